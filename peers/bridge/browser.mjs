// A browser without a window: `browser.mjs ADDRESS allow|deny`. It keeps cookies by host and path, answers the gateway's page,
// and follows redirects to the client's own address, which it visits. Prints the hosts that it came to.
const [address, answer] = process.argv.slice(2)
const jar = []

const cookies = (url) => jar.filter((one) => one.host === url.host && url.pathname.startsWith(one.path)).map((one) => one.pair).join('; ')

function keep(url, response) {
  for (const line of response.headers.getSetCookie()) {
    const [pair, ...rest] = line.split(';').map((part) => part.trim())
    const attribute = (name) => rest.find((part) => part.toLowerCase().startsWith(`${name}=`))?.split('=')[1]
    const [name, path] = [pair.split('=')[0], attribute('path') ?? '/']
    const at = jar.findIndex((one) => one.host === url.host && one.path === path && one.pair.split('=')[0] === name)
    if (at >= 0) jar.splice(at, 1)
    if (pair.split('=')[1]) jar.push({ host: url.host, path, pair })
  }
}

async function visit(url, options = {}) {
  console.log(`${url.host}${url.pathname.replace(/[\w-]{15,}/g, '…')}`)
  const headers = { accept: 'text/html', cookie: cookies(url), ...options.headers }
  const response = await fetch(url, { ...options, headers, redirect: 'manual' })
  keep(url, response)
  return response
}

let url = new URL(address)
let response = await visit(url)
for (let step = 0; step < 20; step += 1) {
  const location = response.headers.get('location')
  if (location) {
    url = new URL(location, url)
    response = await visit(url)
    continue
  }
  const request = /name="request" value="([^"]+)"/.exec(await response.text())?.[1]
  if (!request) break
  const body = new URLSearchParams({ request, answer })
  const action = new URL('/oauth/authorize', url)
  response = await visit(action, { method: 'POST', body, headers: { origin: action.origin } })
  url = action
}
process.exit(response.ok ? 0 : 1)

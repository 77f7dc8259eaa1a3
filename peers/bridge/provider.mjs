// A real provider of OpenID Connect (`oidc-provider`) that registers no clients and knows one: `provider.mjs PORT CALLBACK`.
// Its user `ann` is signed in without a password, and agrees.
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const [port, callback] = process.argv.slice(2)
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: 'gateway', client_secret: 's3cret-of-the-gateway', redirect_uris: [callback], grant_types: ['authorization_code'] }],
  cookies: { keys: ['a key of this provider alone'] },
  features: { devInteractions: { enabled: false }, registration: { enabled: false } },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.com` }) }),
  claims: { openid: ['sub', 'email'] },
  conformIdTokenClaims: false,
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  pkce: { required: () => true },
})

async function interact(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'ann' } })
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
  grant.addOIDCScope(params.scope)
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}

const serve = provider.callback()
createServer((request, response) => {
  const answer = request.url.startsWith('/interaction/') ? interact(request, response) : serve(request, response)
  Promise.resolve(answer).catch((error) => {
    console.error(error)
    response.writeHead(500).end()
  })
}).listen(Number(port), '127.0.0.1')

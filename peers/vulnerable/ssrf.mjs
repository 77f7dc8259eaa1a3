// A server that fetches pages of a site. `--site ORIGIN` names the site, such as http://127.0.0.2:8080.
// Weak: it refuses two spellings of this host in the URL's text, and follows redirects without a second look.
// So decimal, short, hexadecimal and IPv6 spellings, a user name before the host, and a redirect reach 127.0.0.1.
// Why real servers do so: a list of forbidden words is quick to write, and the HTTP library follows by default.
// Both twins connect to loopback addresses only, so that the weak one reaches nothing outside this machine.
import { lookup } from "node:dns/promises";
import { request } from "node:http";
import { isIP } from "node:net";
import { options, serve, text } from "./mcp.mjs";

const { site, http, hardened } = options();
const allowed = site && new URL(site);
const pinned = allowed && (await addressOf(allowed));

function addressOf({ hostname }) {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return isIP(bare) ? bare : lookup(bare).then(({ address }) => address);
}

const isLoopback = (address) => /^(127\.|::1$|::ffff:7f)/.test(address);

async function destination(url) {
  if (url.protocol !== "http:") throw new Error("Only http URLs can be fetched");
  if (hardened) {
    if (!allowed || url.origin !== allowed.origin || url.username || url.password) throw new Error("This site is not allowed");
    return pinned;
  }
  return addressOf(url);
}

function get(url, address) {
  if (!isLoopback(address)) throw new Error("Only loopback addresses can be fetched here");
  const ask = { host: address, port: url.port || 80, path: url.pathname + url.search, headers: { host: url.host }, timeout: 5000 };
  return new Promise((done, failed) => {
    const sent = request(ask, async (response) => {
      let body = "";
      try {
        for await (const chunk of response.setEncoding("utf8")) if ((body += chunk).length > 100_000) break;
      } catch (error) {
        return failed(error);
      }
      done({ status: response.statusCode, location: response.headers.location, body });
    });
    sent.on("timeout", () => sent.destroy(new Error("The site does not answer"))).on("error", failed).end();
  });
}

async function fetchPage(written) {
  if (/^\w+:\/\/(localhost|127\.0\.0\.1)/i.test(written)) throw new Error("This address is private");
  let url = new URL(written);
  for (let hop = 0; hop < 5; hop++) {
    const { status, location, body } = await get(url, await destination(url));
    if (status < 300 || status > 399 || !location) return body;
    url = new URL(location, url);
  }
  throw new Error("Too many redirects");
}

serve(
  {
    name: "pages",
    tools: () => [
      {
        name: "fetch_page",
        description: "Fetch a page of the site and return its text",
        inputSchema: { type: "object", properties: { url: { type: "string", description: "URL of the page" } }, required: ["url"] },
      },
    ],
    async call(_name, { url }) {
      try {
        return text(await fetchPage(url));
      } catch {
        return text("The page cannot be fetched", true);
      }
    },
  },
  { http },
);

// JSON-RPC for the servers in this folder: stdio and Streamable HTTP, revisions 2025-11-25 and 2026-07-28.
// It has no weakness on purpose: each weakness is in the server's own file, so that a twin differs in that alone.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { randomUUID } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { sep } from "node:path";

const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";
const META = "io.modelcontextprotocol/";
const NAMED = { "tools/call": "name", "resources/read": "uri", "prompts/get": "name" };

export class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const text = (value, isError = false) => ({ content: [{ type: "text", text: String(value) }], ...(isError && { isError }) });

/** Reads `--root DIR`, `--http PORT`, `--site ORIGIN` and `--hardened`; exits without a temporary folder. */
export function options() {
  const words = process.argv.slice(2);
  const value = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
  const root = value("--root");
  const refuse = (why) => {
    console.error(`${why}. Give --root an existing folder inside ${tmpdir()}`);
    process.exit(2);
  };
  if (!root) refuse("--root is missing");
  let real;
  try {
    real = realpathSync(root);
    if (!statSync(real).isDirectory()) refuse(`${root} is not a folder`);
  } catch {
    refuse(`${root} does not exist`);
  }
  if (!real.startsWith(realpathSync(tmpdir()) + sep)) refuse(`${root} is not a temporary folder`);
  return { root: real, http: value("--http"), site: value("--site"), hardened: words.includes("--hardened") };
}

function argumentError(schema, given) {
  for (const name of schema.required ?? []) if (!(name in given)) return `The argument ${name} is missing`;
  for (const [name, value] of Object.entries(given)) {
    const expected = schema.properties[name];
    if (!expected) return `The argument ${name} is unknown`;
    if (typeof value !== expected.type) return `The argument ${name} is not a ${expected.type}`;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isId = (id) => typeof id === "string" || Number.isInteger(id);
const isEnvelope = (message) => {
  const { jsonrpc, method, id = 0 } = message ?? {};
  return jsonrpc === "2.0" && typeof method === "string" && isId(id);
};

class Endpoint {
  constructor(server) {
    this.server = server;
    this.info = { name: server.name, version: "1.0.0" };
    this.capabilities = { tools: {}, ...(server.resources && { resources: {} }) };
  }

  initialize(params, session) {
    if (typeof params.protocolVersion !== "string" || !isObject(params.clientInfo) || !isObject(params.capabilities)) {
      throw new RpcError(-32602, "initialize needs protocolVersion, capabilities and clientInfo");
    }
    session.client = params.clientInfo.name;
    session.ready = true;
    return { protocolVersion: LEGACY, capabilities: this.capabilities, serverInfo: this.info };
  }

  context(params, session, principal) {
    const meta = params._meta ?? {};
    const version = meta[`${META}protocolVersion`];
    if (version === undefined && session.ready) return { modern: false, client: session.client, principal };
    if (typeof version !== "string") throw new RpcError(-32602, "The protocol version in _meta is missing");
    if (version !== MODERN) {
      throw new RpcError(-32022, "Unsupported protocol version", { supported: [MODERN], requested: version });
    }
    const capabilities = meta[`${META}clientCapabilities`];
    if (!isObject(capabilities)) throw new RpcError(-32602, "The client capabilities in _meta are missing");
    return { modern: true, client: meta[`${META}clientInfo`]?.name, capabilities, principal };
  }

  async run(message, session, principal) {
    const params = message.params ?? {};
    if (!isObject(params)) throw new RpcError(-32602, "params is not an object");
    if (message.method === "initialize") return this.initialize(params, session);
    if (message.method === "ping" && params._meta?.[`${META}protocolVersion`] === undefined) return {};
    const context = this.context(params, session, principal);
    const result = await this.dispatch(message.method, params, context);
    if (!context.modern) return result;
    const cached = /^(server\/discover|resources\/read|.*\/list)$/.test(message.method) && { ttlMs: 0, cacheScope: "private" };
    return { resultType: "complete", ...cached, ...result, _meta: { [`${META}serverInfo`]: this.info } };
  }

  async dispatch(method, params, context) {
    const { server } = this;
    if (method === "server/discover" && context.modern) return { supportedVersions: [MODERN], capabilities: this.capabilities };
    if (method === "tools/list") {
      firstPage(params);
      return { tools: server.tools(context) };
    }
    if (method === "tools/call") return this.call(params, context);
    if (server.resources && method === "resources/list") {
      firstPage(params);
      return { resources: server.resources(context) };
    }
    if (server.resources && method === "resources/templates/list") {
      firstPage(params);
      return { resourceTemplates: server.templates };
    }
    if (server.resources && method === "resources/read") return this.read(params, context);
    throw new RpcError(-32601, `Unknown method ${method}`);
  }

  async call(params, context) {
    if (typeof params.name !== "string") throw new RpcError(-32602, "The tool's name is missing");
    const given = params.arguments ?? {};
    if (!isObject(given)) throw new RpcError(-32602, "arguments is not an object");
    const { inputResponses = {} } = params;
    if (!isObject(inputResponses) || !Object.values(inputResponses).every(isObject)) {
      throw new RpcError(-32602, "inputResponses is malformed");
    }
    const tool = this.server.tool(params.name, context);
    if (!tool) throw new RpcError(-32602, `Unknown tool ${params.name}`);
    const problem = argumentError(tool.inputSchema, given);
    if (problem) return text(problem, true);
    try {
      return await this.server.call(tool.name, given, context, params);
    } catch (error) {
      if (error instanceof RpcError) throw error;
      return text(error.message, true);
    }
  }

  async read(params, context) {
    if (typeof params.uri !== "string") throw new RpcError(-32602, "uri is missing");
    try {
      return { contents: [await this.server.read(params.uri, context)] };
    } catch {
      throw new RpcError(context.modern ? -32602 : -32002, "Resource not found", { uri: params.uri });
    }
  }

  /** Answers one message; a notification, and a response from the client, has no answer. */
  async answer(message, session, principal) {
    if (!isObject(message) || message.jsonrpc !== "2.0") return failure(null, new RpcError(-32600, "Invalid request"));
    if (message.method === undefined && ("result" in message || "error" in message)) return;
    if (message.id === undefined && typeof message.method === "string") return;
    const { id } = message;
    if (!isEnvelope(message)) return failure(null, new RpcError(-32600, "Invalid request"));
    try {
      return { jsonrpc: "2.0", id, result: await this.run(message, session, principal) };
    } catch (error) {
      return failure(id, error);
    }
  }
}

function firstPage(params) {
  if (params.cursor !== undefined) throw new RpcError(-32602, "Unknown cursor");
}

function failure(id, error) {
  const known = error instanceof RpcError;
  const body = known ? { code: error.code, message: error.message, ...(error.data && { data: error.data }) } : { code: -32603, message: "Internal error" };
  return { jsonrpc: "2.0", ...(id !== null && { id }), error: body };
}

function parsed(line) {
  try {
    return { message: JSON.parse(line) };
  } catch {
    return { problem: failure(null, new RpcError(-32700, "Parse error")) };
  }
}

function overStdio(endpoint) {
  const session = {};
  createInterface({ input: process.stdin }).on("line", async (line) => {
    if (!line.trim()) return;
    const { message, problem } = parsed(line);
    const answer = problem ?? (await endpoint.answer(message, session, "local"));
    if (answer) process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
}

function decoded(header) {
  const sentinel = /^=\?base64\?(.*)\?=$/.exec(header ?? "");
  return sentinel ? Buffer.from(sentinel[1], "base64").toString() : header;
}

function headerProblem(headers, message) {
  const version = message.params?._meta?.[`${META}protocolVersion`];
  if (version === undefined && headers["mcp-protocol-version"] !== MODERN) return;
  const member = NAMED[message.method];
  const fits =
    headers["mcp-protocol-version"] === version &&
    headers["mcp-method"] === message.method &&
    (!member || decoded(headers["mcp-name"]) === message.params?.[member]);
  if (!fits) return failure(message.id ?? null, new RpcError(-32020, "A request header is missing or differs from the body"));
}

function statusOf(answer, modern) {
  const code = answer.error?.code;
  if (code === -32700 || code === -32600) return 400;
  if (!modern || code === undefined) return 200;
  return code === -32601 ? 404 : [-32020, -32021, -32022, -32602].includes(code) ? 400 : 200;
}

class HttpFront {
  constructor(endpoint) {
    this.endpoint = endpoint;
    this.sessions = new Map();
  }

  async handle(request, response) {
    const { headers } = request;
    const send = (status, body, more = {}) => {
      response.writeHead(status, { ...(body && { "content-type": "application/json" }), ...more });
      response.end(body && JSON.stringify(body));
    };
    const host = /^(127\.0\.0\.1|localhost)(:\d+)?$/;
    if (!host.test(headers.host ?? "") || (headers.origin && !host.test(headers.origin.replace(/^https?:\/\//, "")))) return send(403);
    if (request.url !== "/mcp") return send(404);
    const id = headers["mcp-session-id"];
    if (request.method === "DELETE") return send(this.sessions.delete(id) ? 200 : 404);
    if (request.method === "GET" && id && !this.sessions.has(id)) return send(404);
    if (request.method !== "POST") return send(405, undefined, { allow: "POST, DELETE" });
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) if ((body += chunk).length > 1e6) return send(413);
    const { message, problem } = parsed(body);
    if (problem) return send(400, problem);
    await this.answer(headers, message, id, send);
  }

  async answer(headers, message, id, send) {
    const version = headers["mcp-protocol-version"];
    const modern = version === MODERN || message?.params?._meta?.[`${META}protocolVersion`] !== undefined;
    const mismatch = isEnvelope(message) && headerProblem(headers, message);
    if (mismatch) return send(400, mismatch);
    if (!modern && version && version !== LEGACY) {
      const error = new RpcError(-32022, "Unsupported protocol version", { supported: [LEGACY, MODERN], requested: version });
      return send(400, failure(message?.id ?? null, error));
    }
    const begins = !modern && message?.method === "initialize";
    const session = begins || modern ? {} : this.sessions.get(id);
    if (!session) return send(id ? 404 : 400, failure(message?.id ?? null, new RpcError(-32600, "The session is missing or unknown")));
    const principal = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "anonymous";
    const answer = await this.endpoint.answer(message, session, principal);
    if (!answer) return send(202);
    if (!begins || answer.error) return send(statusOf(answer, modern), answer);
    const fresh = randomUUID();
    this.sessions.set(fresh, session);
    send(200, answer, { "mcp-session-id": fresh });
  }
}

/** Serves over stdio, or with `--http PORT` at http://127.0.0.1:PORT/mcp (0 for a free port, printed to stderr). */
export function serve(server, { http }) {
  server.tool ??= (name, context) => server.tools(context).find((tool) => tool.name === name);
  const endpoint = new Endpoint(server);
  if (http === undefined) return overStdio(endpoint);
  const front = new HttpFront(endpoint);
  const listener = createServer((request, response) => front.handle(request, response).catch(() => response.destroy()));
  listener.listen(Number(http), "127.0.0.1", () => console.error(`http://127.0.0.1:${listener.address().port}/mcp`));
}

// A small server that speaks the contract of `proof inspect`, for the browser tests: rows in memory, answers by name of the tool.
// `node test/fake.mjs [--rows N] [--hostile] [--port P]` serves by itself and prints the address.

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { COLUMN } from "../rows.js";
import { listed, seed } from "./fake-data.mjs";

const page = dirname(dirname(fileURLToPath(import.meta.url)));
export const TOKEN = "0123456789abcdef0123456789abcdef";
export const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml" };
export const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; media-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

class Refusal extends Error {
  constructor(status, what, more = {}) {
    super(what);
    this.status = status;
    this.more = more;
  }
}

/** The filter language as far as the tests use it. */
function matcher(filter) {
  const groups = filter.replace(/^\((.*)\)$/, "$1").split(/\s\|\s/).map((group) => group.match(/\(|\)|(?:[^\s"()]|"[^"]*")+/g) ?? []);
  const terms = groups.map((group) => group.filter((term) => term !== "(" && term !== ")").map(termOf(filter)));
  return (row) => terms.length === 0 || terms.some((group) => group.every((holds) => holds(row)));
}

const termOf = (filter) => (term) => {
  const [, no, name, sign, raw] = /^([-!]?)([a-z]+)(:|>=|<=|>|<)(.*)$/.exec(term) ?? [];
  if (!name) return (row) => [row[COLUMN.method], row[COLUMN.name]].join(" ").toLowerCase().includes(term.replaceAll('"', "").toLowerCase());
  const value = raw.replaceAll('"', "");
  if (!(name in COLUMN) && !["finding", "row", "tool"].includes(name)) throw new Refusal(400, `there is no ${name}`, { position: filter.indexOf(term), try: "method:, status:, took>" });
  const test = (row) => {
    if (name === "finding") return row[COLUMN.findings] > 0;
    if (name === "row") {
      const [from, to = from] = value.split("..").map(Number);
      return row[0] >= from && row[0] <= to;
    }
    const has = row[COLUMN[name === "tool" ? "name" : name]];
    if (sign !== ":") {
      const [, number, unit = ""] = /^([\d.]+)(\D*)$/.exec(value) ?? [];
      const wanted = Number(number) * ({ ms: 1000, s: 1e6, k: 1024, M: 1048576 }[unit] ?? 1);
      return has !== null && { ">": has > wanted, "<": has < wanted, ">=": has >= wanted, "<=": has <= wanted }[sign];
    }
    return value.split(",").some((one) => new RegExp(`^${one.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`, "i").test(String(has)));
  };
  return no ? (row) => !test(row) : test;
};

export class Fake {
  constructor({ rows = 60, hostile = false, kind = "stdio", state = "open", offered = [] } = {}) {
    this.seq = 1;
    this.began = Date.UTC(2026, 10, 26, 9, 0, 0) * 1000;
    this.start = Date.now();
    this.rows = [];
    this.details = new Map();
    this.questions = [];
    this.findings = [];
    /** Tasks as the page gets them. */
    this.tasks = [];
    this.subscribed = [];
    this.level = "info";
    this.session = 1;
    this.state = kind === "trace" ? "file" : state;
    /** Servers to pick from besides the first: label and state. */
    this.offered = offered.map((label, at) => ({ target: at + 2, label, state: "idle" }));
    this.kind = kind;
    this.posts = [];
    this.feeds = new Set();
    this.waiting = new Map();
    this.hostile = hostile;
    seed(this, rows, hostile);
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  async listen(port = 0) {
    await new Promise((done) => this.server.listen(port, "127.0.0.1", done));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
    return `${this.origin}/#token=${TOKEN}`;
  }

  close() {
    for (const feed of this.feeds) feed.response.end();
    this.server.closeAllConnections();
    this.server.close();
  }

  // ---- What the server knows
  snapshot() {
    const said = listed(this.hostile);
    return {
      version: "0.1.0", seq: this.seq, first: 1, next: this.rows.length + 1, columns: Object.keys(COLUMN), began: this.began,
      ring: { limit: 268435456, used: 104857, dropped_rows: 0, dropped_bytes: 0 },
      targets: [this.first(said), ...this.offered.map((one) => ({ ...this.first(said), ...one, session: 0, server: null, capabilities: null, instructions: null, greeting: null, revision: null, era: null, subscribed: [] }))],
      sessions: Array.from({ length: this.session }, (_, at) => ({ session: at + 1, target: 1, transport: this.kind, began: at * 1e6, ended: at + 1 < this.session ? at * 1e6 + 9e5 : null, rows: this.rows.length, judged: true, why: null })),
      questions: this.questions, findings: this.findings.length, tasks: this.tasks.length,
    };
  }

  first(said) {
    return {
      target: 1, label: said.label, kind: this.kind, state: this.state, session: this.session, level: this.level, subscribed: this.subscribed,
      revision: "2025-11-25", offered: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"], era: "legacy", server: said.server,
      capabilities: { completions: {}, logging: {}, prompts: { listChanged: true }, resources: { subscribe: true }, tools: { listChanged: true } },
      instructions: said.instructions, greeting: { protocolVersion: "2025-11-25", serverInfo: said.server }, error: null,
    };
  }

  row(values) {
    const row = Object.keys(COLUMN).map((name) => values[name] ?? { n: this.rows.length + 1, target: 1, session: this.session, kind: "call", dir: "out", at: (Date.now() - this.start) * 1000, took: null, status: "ok", method: "", name: "", size: 0, parts: 1, findings: 0, level: "", rev: "2025-11-25", id: "", parent: 0 }[name]);
    this.rows.push(row);
    return row;
  }

  /** Adds or changes a row and tells the feeds. */
  push(row, parts = [], findings = []) {
    this.details.set(row[0], { row, http: false, redacted: false, parts, findings });
    this.tell([row]);
    return row[0];
  }

  tell(changed) {
    this.seq += 1;
    for (const feed of this.feeds) feed.rows(changed);
  }

  tellState() {
    this.seq += 1;
    for (const feed of this.feeds) feed.send("state", this.snapshot());
  }

  // ---- HTTP
  async serve(request, response) {
    const url = new URL(request.url, this.origin);
    response.setHeader("Content-Security-Policy", POLICY);
    response.setHeader("X-Content-Type-Options", "nosniff");
    try {
      if (!url.pathname.startsWith("/api/")) return this.file(url.pathname, response);
      if (request.headers.authorization !== `Bearer ${TOKEN}`) throw new Refusal(401, "no token, or a wrong one", { try: "open the printed address" });
      if (url.pathname === "/api/feed") return this.feed(url, request, response);
      if (/^\/api\/row\/\d+\/part\/\d+$/.test(url.pathname)) return this.bytes(url.pathname, response);
      if (url.pathname === "/api/trace") return response.end('{"proof.trace":1}\n');
      const body = request.method === "POST" ? await this.body(request) : null;
      const answer = body === null ? this.get(url) : await this.post(url.pathname, body);
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(answer));
    } catch (error) {
      response.statusCode = error.status ?? 500;
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ error: { what: error.message, ...error.more } }));
    }
  }

  file(path, response) {
    const name = path === "/" ? "index.html" : normalize(path).slice(1);
    try {
      const body = readFileSync(join(page, name));
      response.setHeader("Content-Type", TYPES[extname(name)] ?? "text/plain");
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  }

  async body(request) {
    if (request.headers["content-type"] !== "application/json") throw new Refusal(415, "not JSON");
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const body = JSON.parse(text);
    this.posts.push({ path: new URL(request.url, this.origin).pathname, body, text });
    return body;
  }

  feed(url, request, response) {
    const holds = matcher(url.searchParams.get("filter") ?? "");
    response.setHeader("Content-Type", "text/event-stream");
    const known = new Set(this.rows.filter(holds).map((row) => row[0]));
    const feed = {
      response,
      send: (event, data) => response.write(`event: ${event}\nid: ${this.seq}\ndata: ${JSON.stringify(data)}\n\n`),
      rows: (changed) => {
        const rows = changed.filter(holds);
        const gone = changed.filter((row) => known.has(row[0]) && !holds(row)).map((row) => row[0]);
        const fresh = rows.filter((row) => !known.has(row[0]));
        for (const n of gone) known.delete(n);
        for (const row of fresh) known.add(row[0]);
        feed.send("rows", { seq: this.seq, rows, gone, matched: known.size, total: this.rows.length, first: 1, appended: fresh.length, moved: gone.length > 0, skipped: 0 });
      },
    };
    this.feeds.add(feed);
    request.on("close", () => this.feeds.delete(feed));
    feed.send("state", this.snapshot());
  }

  get(url) {
    const query = url.searchParams;
    if (url.pathname === "/api/state") return this.snapshot();
    if (url.pathname === "/api/rows") {
      const list = this.rows.filter(matcher(query.get("filter") ?? ""));
      const count = Math.min(2000, Number(query.get("count") ?? 100));
      let from = Number(query.get("from") ?? 0);
      if (from < 0) from = Math.max(0, list.length + from);
      if (query.has("at")) from = Math.max(0, list.findIndex((row) => row[0] >= Number(query.get("at"))));
      return { seq: this.seq, total: this.rows.length, matched: list.length, from, rows: list.slice(from, from + count) };
    }
    if (url.pathname === "/api/complete") return this.complete(query.get("filter") ?? "", Number(query.get("at")));
    if (url.pathname === "/api/tasks") return { tasks: this.tasks };
    if (url.pathname === "/api/findings") return { findings: this.findings };
    const [, n] = /^\/api\/row\/(\d+)$/.exec(url.pathname) ?? [];
    if (n) {
      const detail = this.details.get(Number(n));
      if (!detail) throw new Refusal(404, `there is no row ${n}`);
      return detail;
    }
    const [, rule] = /^\/api\/rule\/(.+)$/.exec(url.pathname) ?? [];
    if (rule) return { id: decodeURIComponent(rule), text: `${decodeURIComponent(rule)} (MUST)\n\nNames of tools are unique.` };
    throw new Refusal(404, `there is no ${url.pathname}`);
  }

  bytes(path, response) {
    const [, n, part] = /row\/(\d+)\/part\/(\d+)/.exec(path);
    response.end(this.details.get(Number(n))?.parts[Number(part)]?.text ?? "");
  }

  complete(filter, position) {
    const from = filter.lastIndexOf(" ", position - 1) + 1;
    const word = filter.slice(from, position);
    const known = [["method:", "JSON-RPC method"], ["method:tools/call", "a method that crossed"], ["status:error", "failed"], ["status:pending", "without an answer"], ["took>200ms", "slow"], ["finding:*", "with findings"]];
    return { from, to: position, items: known.filter(([text]) => text.startsWith(word)).map(([text, what]) => ({ text, what })) };
  }

  async post(path, body) {
    if (["/api/request", "/api/raw", "/api/list"].includes(path) && this.state !== "open") throw new Refusal(409, "the server is not connected", { try: "connect it" });
    switch (path) {
      case "/api/request": return { row: this.request(body) };
      case "/api/raw": return { row: this.push(this.row({ kind: "bytes", name: body.text.slice(0, 160), size: body.text.length }), [{ part: 0, frame: 1, at: 0, type: "bytes", text: body.text, bytes: body.text.length }]) };
      case "/api/list": return { items: listed(this.hostile)[body.what], pages: 1, rows: [1], error: null };
      case "/api/cancel": return this.cancel(body.row);
      case "/api/subscribe":
        this.subscribed = body.on ? [...this.subscribed, body.uri] : this.subscribed.filter((uri) => uri !== body.uri);
        this.tellState();
        return { subscribed: this.subscribed };
      case "/api/level": this.level = body.level; this.tellState(); return { level: body.level };
      case "/api/connect": {
        const picked = this.offered.find(({ target }) => target === body.target);
        this.session += 1;
        if (picked) picked.state = "open";
        else this.state = "open";
        this.tellState();
        return {};
      }
      case "/api/disconnect": this.state = "closed"; this.tellState(); return {};
      case "/api/doctor": return {
        works: false, failed: "tcp", steps: [
          { step: "dns", outcome: "ok", ms: 2, seen: ["localhost is ::1, 127.0.0.1"], fix: null },
          { step: "tcp", outcome: "failed", ms: 1, seen: ["[::1]:3000: connection refused", `127.0.0.1:3000: ${this.hostile ? "<img src=x onerror=alert(1)>\u202e" : "connection refused"}`], fix: "start the server, check host and port" },
          { step: "tls", outcome: "skipped", ms: 0, seen: ["not reached: see the failed step"], fix: null },
        ],
      };
      case "/api/answer": return this.answer(body);
      case "/api/tests": return { text: `server:\n  command: node server.js\ncases:\n${body.rows.map((row) => `  - name: row ${row}\n    call: { tool: echo }\n`).join("")}`, cases: body.rows.length, left_out: [] };
      case "/api/check": return { errors: body.arguments?.refuse ? [{ pointer: "/refuse", what: "is not allowed" }] : [] };
      default: throw new Refusal(404, `there is no ${path}`);
    }
  }

  // ---- A server behind it
  request({ method, params }) {
    const id = this.rows.length + 1;
    const asked = { jsonrpc: "2.0", id, method, params };
    const row = this.row({ method, name: params?.name ?? params?.uri ?? "", status: "pending", id: String(id) });
    const parts = [message(0, "request", asked)];
    this.push(row, parts);
    const finish = (member, value, status = "ok") => {
      if (row[COLUMN.status] !== "pending") return;
      const answer = { jsonrpc: "2.0", id, [member]: value };
      parts.push(message(parts.length, member === "error" ? "error" : "response", answer));
      Object.assign(row, { [COLUMN.status]: status, [COLUMN.took]: 12_400, [COLUMN.parts]: parts.length, [COLUMN.size]: parts.reduce((sum, part) => sum + part.bytes, 0) });
      this.tell([row]);
    };
    this.act(row, parts, method, params, finish);
    return id;
  }

  act(row, parts, method, params, finish) {
    const said = listed(this.hostile);
    const note = (progress) => {
      if (row[COLUMN.status] !== "pending") return;
      parts.push(message(parts.length, "notification", { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress, total: 5, message: `step ${progress}` } }));
      row[COLUMN.parts] = parts.length;
      this.tell([row]);
    };
    if (method === "tools/call" && params.name === "long") {
      note(1);
      setTimeout(() => note(2), 150);
      this.waiting.set(row[0], finish);
    } else if (method === "tools/call" && params.name === "ask") {
      this.questions = [...this.questions, { question: this.questions.length + 1, target: 1, kind: "form", at: 1, message: "Which colour?", schema: said.asked }];
      this.waiting.set("ask", finish);
      this.tellState();
    } else if (method === "tools/call") finish("result", said.result(params), params.name === "fails" ? "error" : "ok");
    else if (method === "resources/read") finish("result", { contents: said.contents(params.uri) });
    else if (method === "prompts/get") finish("result", { description: "A prompt", messages: said.messages });
    else if (method === "completion/complete") finish("result", { completion: { values: ["paris", "park"].filter((one) => one.startsWith(params.argument.value)) } });
    else finish("result", {});
  }

  cancel(n) {
    const row = this.rows[n - 1];
    if (row[COLUMN.status] !== "pending") throw new Refusal(409, `row ${n} is not pending`);
    this.waiting.delete(n);
    row[COLUMN.status] = "cancelled";
    this.tell([row]);
    return {};
  }

  answer({ question, result, refuse }) {
    const open = this.questions.find((one) => one.question === question);
    if (!open) throw new Refusal(409, `question ${question} is over`);
    this.questions = this.questions.filter((one) => one !== open);
    this.waiting.get("ask")?.("result", { content: [{ type: "text", text: `You said ${JSON.stringify(result ?? refuse)}` }] });
    this.tellState();
    return {};
  }
}

/** A part that is a message. */
export function message(part, role, value) {
  const text = JSON.stringify(value);
  const [from, to] = role === "request" ? ["client", "server"] : ["server", "client"];
  return { part, frame: part + 1, at: part * 1000, from, to, type: "message", role, text, bytes: Buffer.byteLength(text), cut: false, json: true, base64: false };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const value = (name, other) => (process.argv.includes(name) ? Number(process.argv[process.argv.indexOf(name) + 1]) : other);
  const fake = new Fake({ rows: value("--rows", 60), hostile: process.argv.includes("--hostile") });
  process.stdout.write(`${await fake.listen(value("--port", 0))}\n`);
}

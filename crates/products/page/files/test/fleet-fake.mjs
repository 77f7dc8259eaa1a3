// A stand-in for `proof fleet ui`: the same files, policy and contract, with servers that are made up. `node fleet-fake.mjs` serves it.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { POLICY, TOKEN, TYPES } from "./fake.mjs";

const page = dirname(dirname(fileURLToPath(import.meta.url)));
const GATES = ["listed", "starts", "described", "conforms", "tested", "scanned", "locked", "fast", "ready", "evaluated", "signed"];
const STAGES = [["listed", ["listed"]], ["starts", ["starts"]], ["described", ["described"]], ["conforms", ["conforms"]], ["tested", ["tested"]], ["secured", ["scanned", "locked"]], ["operable", ["fast", "ready"]], ["certified", ["evaluated", "signed"]]];
const OWNERS = ["platform", "payments@example.com", "search-team", "ada@example.com", ""];
const NOUNS = ["weather", "billing", "tickets", "search", "calendar", "notes", "shop", "twilio", "metrics", "deploy"];
export const HOSTILE = ["<img src=x onerror=alert(1)>", "a\u202egnp.exe", "\u200b", "</script><script>alert(1)</script>", "x".repeat(400), "javascript:alert(1)"];
const WORDS = { "+": "pass", w: "waived", x: "fail", "?": "incomplete", "-": "skipped", ".": "not-run", o: "old", r: "running" };
const IS = { passed: "+", failed: "x", waived: "w", incomplete: "?", skipped: "-", stale: "o.", running: "r" };

/** The gates of a server: green up to a point, and something wrong there. */
function signsOf(at) {
  const good = [11, 5, 7, 3, 9, 11, 6, 4, 8, 11][at % 10];
  return GATES.map((_, gate) => (gate < good ? (at % 7 === 3 && gate === 2 ? "w" : "+") : gate === good ? "xx?xo-"[at % 6] : "x.-.+."[(at + gate) % 6])).join("");
}

function rowOf(at, hostile) {
  const gates = signsOf(at);
  const reached = STAGES.findIndex(([, own]) => own.some((gate) => !"+w".includes(gates[GATES.indexOf(gate)])));
  const stage = reached < 0 ? 8 : reached;
  const name = hostile ? HOSTILE[at % HOSTILE.length] + at : at < 10 ? NOUNS[at] : `${NOUNS[at % 10]}-${at}`;
  const wanted = at % 3 ? 6 : null;
  const marks = `${at % 11 === 4 ? "h" : ""}${at % 13 === 5 ? "f" : ""}${wanted && stage < wanted ? "b" : ""}`;
  const trend = Array.from({ length: 1 + (at % 9) }, (_, step) => Math.max(0, Math.min(8, stage - 3 + ((step * (at + 3)) % 5)))).concat(stage);
  const blocked = stage === 8 ? "" : STAGES[stage][1].filter((gate) => !"+w".includes(gates[GATES.indexOf(gate)])).map((gate) => `${gate} ${WORDS[gates[GATES.indexOf(gate)]]}`).join(", ");
  const owner = hostile ? HOSTILE[(at + 1) % HOSTILE.length] : OWNERS[at % OWNERS.length];
  return [name, stage, wanted, gates, at % 4 ? 100 - (at % 5) * 2.5 : 100, owner, ["edge"], 3 + (at % 40), Math.floor(Date.now() / 1000) - at * 4000, marks, trend, blocked, gates.includes("w") ? 1 : 0];
}

export class FleetFake {
  constructor({ servers = 37, hostile = false, run = false } = {}) {
    this.hostile = hostile;
    this.rows = Array.from({ length: servers }, (_, at) => rowOf(at, hostile));
    this.seq = 1;
    this.feeds = new Set();
    this.posts = [];
    this.left = 0;
    this.run = null;
    if (run) this.begin("what changed", 12);
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  listen(port = 0) {
    return new Promise((resolve) => {
      this.server.listen(port, "127.0.0.1", () => {
        this.origin = `http://127.0.0.1:${this.server.address().port}`;
        resolve(`${this.origin}/#token=${TOKEN}`);
      });
    });
  }

  close() {
    for (const feed of this.feeds) feed.end();
    this.server.closeAllConnections?.();
    this.server.close();
  }

  state() {
    const fine = this.rows.filter((row) => !row[9]).length;
    return {
      version: "0", seq: this.seq, at: Date.now(), fleet: this.hostile ? HOSTILE[0] : "demo fleet", columns: [], gates: GATES,
      stages: STAGES.map(([name, gates]) => ({ name, gates })), dashboards: [{ name: "platform red", filter: "owner:platform is:failed" }],
      servers: this.rows.length, sum: `${fine} of ${this.rows.length} at the stage that is wanted; 3 fell`, left: this.left, problem: null, run: this.run,
    };
  }

  begin(what, left) {
    this.left = left;
    this.run = { what, running: true, began: Date.now(), ended: null, done: 3, cancelled: false, text: "", failed: false, last: [["weather", "starts", "pass", "3 tools"], ["billing", "starts", "pass", "8 tools"], ["weather", "described", "fail", "2 findings, first lint.description: too short"]] };
    this.rows[0] = [...this.rows[0].slice(0, 3), `${this.rows[0][3].slice(0, 3)}rr${this.rows[0][3].slice(5)}`, ...this.rows[0].slice(4)];
  }

  end(text) {
    this.left = 0;
    this.run = { ...this.run, running: false, ended: Date.now(), text };
    this.rows[0] = rowOf(0, this.hostile);
    this.tell([0]);
  }

  /** Tells the feeds which rows changed, and the state. */
  tell(changed = []) {
    this.seq += 1;
    for (const feed of this.feeds) {
      if (changed.length > 0) feed.write(`event: servers\nid: ${this.seq}\ndata: ${JSON.stringify({ seq: this.seq, rows: changed.map((at) => [at, this.rows[at]]) })}\n\n`);
      feed.write(`event: state\nid: ${this.seq}\ndata: ${JSON.stringify(this.state())}\n\n`);
    }
  }

  async serve(request, response) {
    const url = new URL(request.url, this.origin);
    response.setHeader("Content-Security-Policy", POLICY);
    try {
      if (!url.pathname.startsWith("/api/")) return this.file(url.pathname, response);
      if (request.headers.authorization !== `Bearer ${TOKEN}`) throw Object.assign(new Error("the token of this launch is missing or wrong"), { status: 401 });
      if (url.pathname === "/api/feed") {
        response.setHeader("Content-Type", "text/event-stream");
        response.write(`event: state\nid: ${this.seq}\ndata: ${JSON.stringify(this.state())}\n\n`);
        this.feeds.add(response);
        return request.on("close", () => this.feeds.delete(response));
      }
      const answer = request.method === "POST" ? await this.post(url.pathname, request) : this.get(url);
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(answer));
    } catch (error) {
      response.statusCode = error.status ?? 500;
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ error: { what: error.message, try: error.remedy } }));
    }
  }

  file(path, response) {
    // What stands for the page of an inspector.
    if (path === "/inspected") return response.setHeader("Content-Type", "text/plain").end("inspected");
    try {
      const body = readFileSync(join(page, path === "/" ? "fleet/index.html" : normalize(path).slice(1)));
      response.setHeader("Content-Type", TYPES[extname(path === "/" ? "x.html" : path)] ?? "text/plain");
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  }

  get(url) {
    const value = (name) => url.searchParams.get(name) ?? "";
    switch (url.pathname) {
      case "/api/state": return this.state();
      case "/api/servers": return { seq: this.seq, rows: this.rows };
      case "/api/match": return { seq: this.seq, matched: this.matched(value("filter")) };
      case "/api/complete": return this.complete(value("filter"), Number(value("at")));
      case "/api/server": return this.detail(this.rows.find((row) => row[0] === value("name")));
      case "/api/evidence": return { evidence: this.evidence() };
      case "/api/report": return { schema: "proof.report/1" };
      default: throw Object.assign(new Error("there is nothing at this address"), { status: 404 });
    }
  }

  matched(filter) {
    const words = filter.split(/\s+/).filter(Boolean);
    const gates = words.filter((word) => word.startsWith("gate:")).map((word) => word.slice(5));
    const holds = (row, word) => {
      const [field, value] = word.split(":");
      if (value === undefined) return field === "below" ? row[9].includes("b") : field === "held" ? row[9].includes("h") : field === "fallen" ? row[9].includes("f") : row[0].includes(word);
      if (field === "gate") return GATES.some((gate) => gate.startsWith(value));
      if (field === "owner") return row[5].includes(value);
      if (field === "stage") return value.startsWith("<") ? row[1] < Number(value.slice(1)) : row[1] === Number(value);
      if (field === "is" && IS[value]) return GATES.some((gate, at) => (gates.length === 0 || gates.some((one) => gate.startsWith(one))) && IS[value].includes(row[3][at]));
      throw Object.assign(new Error(`\`${word}\` is unknown in a filter`), { status: 400, remedy: "gate:, is:, owner:, stage" });
    };
    return this.rows.flatMap((row, at) => (words.every((word) => holds(row, word)) ? [at] : []));
  }

  complete(filter, at) {
    const from = filter.lastIndexOf(" ", at - 1) + 1;
    const known = [["gate:", "a gate"], ["is:", "how a gate stands"], ["is:failed", "how it stands"], ["owner:", "part of it"], ["stage:<", "number of the stage"]];
    return { from, to: at, items: known.filter(([text]) => text.startsWith(filter.slice(from, at)) && text !== filter.slice(from, at)).map(([text, what]) => ({ text, what })) };
  }

  detail(row) {
    if (!row) throw Object.assign(new Error("the fleet has no such server"), { status: 404 });
    const [name, stage, wanted, signs] = row;
    const odd = this.hostile ? HOSTILE[0] : "";
    const at = Math.floor(Date.now() / 1000);
    const finding = (rule, message, fails, waived = false) => ({ rule: rule + odd, level: fails ? "MUST" : "SHOULD", place: "stdio 2025-11-25", message: message + odd, fix: "proof explain tools.names-unique", fails, waived });
    const findings = { x: [finding("jsonrpc.result-id", "no request had the id \"nobodys\"", true), finding("tools.names-unique", "two tools are called search", true), finding("tools.titles", "no title", false)], w: [finding("lint.description", "a description of 12 characters", true, true)] };
    return {
      name, owner: row[5] || null, source: "https://git.example.com/tools", tags: row[6], language: "TypeScript", note: odd || null, launch: "proof serve --stdio --catalog weather.yaml",
      stage: `${stage} ${STAGES[stage - 1]?.[0] ?? ""}`, reached: stage, wanted: wanted ? `${wanted} secured` : null, fallen_from: row[9].includes("f") ? "6 secured" : null,
      hold: row[9].includes("h") ? { stage: "3 described", by: "ada", reason: `customer test${odd}`, at: at - 90_000 } : null, seen: at - 4000, tools: row[7],
      gates: GATES.map((gate, index) => ({ gate, light: WORDS[signs[index] === "r" ? "." : signs[index]], stage: "4 conforms", summary: signs[index] === "." ? null : signs[index] === "+" ? "green: 245 MUST rules judged, 0 warnings" : `2 findings, first jsonrpc.result-id: no request had the id "nobodys"${odd}`, score: gate === "conforms" ? 99.1 : null, coverage: gate === "conforms" ? 91.3 : null, at: signs[index] === "." ? null : at - 5000, ms: 21_777, findings: findings[signs[index]] ?? [], more: signs[index] === "x" ? 4 : 0, start: "proof check -- proof serve --stdio" })),
      waivers: [{ id: 3, gate: "described", rule: "lint.description", owner: `ada@example.com${odd}`, reason: `the fix is in review${odd}`, until: "2027-01-31", holds: true }, { id: 1, gate: "scanned", rule: null, owner: "bob", reason: "old launch", until: "2026-05-01", holds: false }],
      playbook: `${name}: stage ${stage}, wanted: 6 secured\n\n1. conforms (stage 4 conforms): fail\n   - jsonrpc.result-id (stdio 2025-11-25): no request had the id "nobodys"\n     fix: proof explain jsonrpc.result-id\n   start: proof check -- proof serve --stdio\n\ndecides: ada@example.com\n`,
      moves: [{ at: at - 5000, from: 5, to: stage }, { at: at - 90_000, from: 3, to: 5 }, { at: at - 180_000, from: 0, to: 3 }],
      results: Array.from({ length: 40 }, (_, index) => ({ at: at - index * 5000, run: 40 - index, gate: GATES[1 + (index % 4)], outcome: ["pass", "fail", "incomplete", "pass"][(index * 7) % 4], score: null, summary: `a summary of the result${odd}` })),
      notes: [{ at: at - 100_000, by: "ada", text: `moves to the new API in March${odd}` }],
    };
  }

  evidence() {
    const odd = this.hostile ? HOSTILE[3] : "";
    return [{ place: "shared-session, event 27 at /id", facts: [["request", `completion/complete (id 13) {"ref":{"type":"ref/resource"}}${odd}`], ["response", '{"jsonrpc":"2.0","id":"nobodys","result":{"completion":{"total":6,"values":["ada","alan"]}}}'], ["why", 'no request had the id "nobodys"'], ["reproduce", "proof check --only jsonrpc.result-id -- proof serve --stdio"]], trace: "one.jsonl" }];
  }

  async post(path, request) {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = JSON.parse(Buffer.concat(pieces).toString());
    this.posts.push({ path, body });
    if (path === "/api/run") {
      if (this.run?.running) throw Object.assign(new Error("a run is going on"), { status: 409, remedy: "wait for its end, or cancel it" });
      this.begin(body.kind === "server" ? body.server : `what is ${body.kind}`, 7);
      this.tell([0]);
      return { started: this.run.what };
    }
    if (path === "/api/cancel") {
      if (!this.run?.running) return { cancelled: false };
      this.run.cancelled = true;
      this.tell();
      setTimeout(() => this.end("cancelled; results that are there are kept"), 60);
      return { cancelled: true };
    }
    if (path === "/api/inspect") return { address: `${this.origin}/inspected` };
    throw Object.assign(new Error("there is nothing at this address"), { status: 404 });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await new FleetFake({ servers: Number(process.argv[2] ?? 37), run: true }).listen()}\n`);

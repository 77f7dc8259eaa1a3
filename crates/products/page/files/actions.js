// What the page asks of `proof inspect`, in the words of the page. Every failure becomes a notice; nothing throws at a view.

import { ApiError, address, ask, download, get, post, problemOf, problemText, save } from "./api.js";
import { Store, initial, targetOf } from "./state.js";
import { parse, text } from "./json.js";
import { COLUMN } from "./rows.js";

export { problemOf, problemText };

export const store = new Store(initial());

/**
 * @param {string} message
 * @param {boolean} [bad]
 */
export function say(message, bad = false) {
  store.dispatch({ type: "notice", text: message, bad });
  const { n } = /** @type {{ n: number }} */ (store.state.notice);
  if (!bad) setTimeout(() => store.dispatch({ type: "quiet", n }), 4000);
}

/**
 * @template T
 * @param {() => Promise<T>} act
 * @returns {Promise<T | null>} null where it failed, which the reader sees
 */
export async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    if (/** @type {Error} */ (error).name !== "AbortError") say(problemText(problemOf(error)), true);
    return null;
  }
}

const target = () => targetOf(store.state)?.target ?? 1;

/** @param {{ from?: number, at?: number, count: number }} query @param {string} filter */
export const readRows = (query, filter) => get("/api/rows", /** @type {any} */ ({ filter, ...query }));

/** @param {string} filter @param {number} position */
export const complete = (filter, position) => get("/api/complete", { filter, at: position });

/**
 * @param {number} n
 * @param {AbortSignal} [signal]
 * @returns {Promise<import("./contract.js").RowDetail>}
 */
export const readRow = (n, signal) => get(`/api/row/${n}`, {}, signal);

/**
 * All bytes of a part, as text.
 * @param {number} n
 * @param {number} part
 */
export async function wholePart(n, part) {
  return (await ask(`/api/row/${n}/part/${part}`)).text();
}

/**
 * Sends a request and remembers its row under a key.
 * @param {string} method
 * @param {any} params
 * @param {{ key?: string, row?: number, to?: number, task?: boolean }} [more] `task`: the server may make a task of it
 * @returns {Promise<number | null>} the row
 */
export async function request(method, params, { key, row, to = target(), task = false } = {}) {
  const body = /** @type {any} */ ({ target: to, method, params });
  if (row) body.row = row;
  if (task) body.task = true;
  const answer = await attempt(() => post("/api/request", body));
  if (!answer) return null;
  if (key) store.dispatch({ type: "sent", key, row: answer.row });
  return answer.row;
}

/**
 * Sends a request and waits for its answer.
 * @param {string} method
 * @param {any} params
 * @param {number} [limit] ms
 * @returns {Promise<any>} the result
 */
export async function answerTo(method, params, limit = 10_000) {
  const { row } = await post("/api/request", { target: target(), method, params });
  const end = Date.now() + limit;
  for (let wait = 30; Date.now() < end; wait = Math.min(400, wait * 2)) {
    const detail = await readRow(row);
    if (detail.row[COLUMN.status] !== "pending") return resultOf(detail).result;
    await new Promise((done) => setTimeout(done, wait));
  }
  throw new ApiError(0, { what: `${method} is not answered`, at: `row ${row}`, try: "look at its row" });
}

/**
 * The answer in a row: its result, its error, or neither yet.
 * @param {import("./contract.js").RowDetail} detail
 * @returns {{ result: any, error: any }}
 */
export function resultOf(detail) {
  const answer = [...detail.parts].reverse().find(({ role }) => role === "response" || role === "error");
  if (!answer || !answer.json || answer.cut) return { result: undefined, error: undefined };
  try {
    const message = parse(answer.text ?? "");
    return { result: message?.result, error: message?.error };
  } catch {
    return { result: undefined, error: undefined };
  }
}

/** @param {string} what @param {boolean} [fresh] @param {import("./contract.js").Target | null} [shown] */
export async function load(what, fresh = false, shown = targetOf(store.state)) {
  if (!shown || shown.state !== "open") return;
  const key = `${shown.target}/${what}`;
  const before = store.state.lists[key];
  if (!fresh && before && before.session === shown.session) return;
  const base = { items: before?.session === shown.session ? before.items : [], session: shown.session, error: null };
  store.dispatch({ type: "list", key, list: { ...base, loading: true } });
  try {
    const { items, error } = await post("/api/list", { target: shown.target, what });
    if (before && before.session !== shown.session && !before.error && !error && text(before.items, 0) !== text(items, 0)) {
      say(`The ${what} of ${shown.server?.name ?? "the server"} changed since the last connection: press D to see how`);
    }
    store.dispatch({ type: "list", key, list: { items: Array.isArray(items) ? items : [], error, session: shown.session, loading: false } });
  } catch (error) {
    store.dispatch({ type: "list", key, list: { ...base, error: problemOf(error), loading: false } });
  }
}

/** @param {number} row */
export const cancel = (row) => attempt(() => post("/api/cancel", { row }));

/** @param {string} uri @param {boolean} on */
export const subscribe = (uri, on) => attempt(() => post("/api/subscribe", { target: target(), uri, on }));

/** @param {string} level */
export const setLevel = (level) => attempt(() => post("/api/level", { target: target(), level }));

/** @param {string | null} revision */
export const connect = (revision) => attempt(() => post("/api/connect", { target: target(), revision }));

/** Shows a server and connects to it. @param {number} chosen */
export function pick(chosen) {
  store.dispatch({ type: "target", target: chosen });
  return connect(null);
}

/** Walks to the server step by step. @returns {Promise<import("./contract.js").Diagnosis | null>} */
export const diagnose = () => attempt(() => post("/api/doctor", { target: target() }));

/**
 * Guided authorization: `begin`, `step`, `answer`, `stop` or `state`.
 * @param {string} act
 * @param {{ step?: string, url?: string }} [more]
 * @returns {Promise<import("./contract.js").Guide | null>}
 */
export const guide = (act, more = {}) => attempt(() => post("/api/oauth", { target: target(), act, ...more }));

export const disconnect = () => attempt(() => post("/api/disconnect", { target: target() }));

/** @param {number} question @param {any} result */
export const answer = (question, result) => attempt(() => post("/api/answer", { question, result }));

/** @param {number} question */
export const refuse = (question) =>
  attempt(() => post("/api/answer", { question, refuse: { code: -1, message: "The user refused" } }));

/** @param {string} raw @returns {Promise<number | null>} */
export async function sendRaw(raw) {
  const sent = await attempt(() => post("/api/raw", { target: target(), text: raw }));
  return sent ? sent.row : null;
}

/** @param {string} tool @param {any} given */
export const check = (tool, given) => post("/api/check", { target: target(), tool, arguments: given });

/**
 * The row in which a request goes on that the server answered with questions, as servers of the modern era do.
 * @param {import("./contract.js").RowDetail} detail
 * @returns {Promise<number>} 0 where it does not go on yet
 */
export async function nextRound(detail) {
  const { result } = resultOf(detail);
  const method = String(detail.row[COLUMN.method]);
  const n = Number(detail.row[COLUMN.n]);
  const { rows } = await readRows({ from: 0, count: 20 }, `target:${detail.row[COLUMN.target]} method:"${method.replaceAll(/["\\]/g, "\\$&")}" dir:out row:${n + 1}..${n + 10_000}`);
  for (const row of rows) {
    const params = requestOf(await readRow(Number(row[COLUMN.n])))?.params;
    if (params?.inputResponses !== undefined && params.requestState === result?.requestState) return Number(row[COLUMN.n]);
  }
  return 0;
}

/**
 * The request of a row as it can be sent again.
 * @param {import("./contract.js").RowDetail} detail
 * @returns {{ method: string, params: any, text: string } | null}
 */
export function requestOf(detail) {
  const part = detail.parts.find(({ role, json }) => (role === "request" || role === "notification") && json);
  if (!part || part.cut) return null;
  try {
    const message = parse(part.text ?? "");
    return { method: String(message.method ?? ""), params: message.params, text: text(message) };
  } catch {
    return null;
  }
}

/** @param {number} n */
export async function resend(n) {
  const detail = await attempt(() => readRow(n));
  if (!detail) return;
  const sent = requestOf(detail);
  if (!sent || detail.row[COLUMN.dir] !== "out" || detail.row[COLUMN.kind] !== "call") {
    say("only a request of the client can be sent again – select one", true);
    return;
  }
  const row = await request(sent.method, stripped(sent.params), { row: n });
  if (row) {
    say(`Sent again as row ${row}${detail.redacted ? "; its secrets are placeholders" : ""}`);
    store.dispatch({ type: "base", n });
    store.dispatch({ type: "select", at: row });
  }
}

/**
 * Shows how two rows differ: what was sent, and what came back.
 * @param {number} base
 * @param {number} n
 */
export async function compare(base, n) {
  if (!base || !n || base === n) {
    say("choose two messages: press m on one, = on the other", true);
    return;
  }
  const found = await attempt(() => Promise.all([readRow(base), readRow(n)]));
  if (found) store.dispatch({ type: "dialog", dialog: { kind: "compare", base, n, pairs: pairsOf(found[0], found[1]) } });
}

/**
 * Both requests and both answers as indented JSON, without what differs in every message.
 * @param {import("./contract.js").RowDetail} a
 * @param {import("./contract.js").RowDetail} b
 */
function pairsOf(a, b) {
  const asked = (/** @type {import("./contract.js").RowDetail} */ detail) => {
    const sent = requestOf(detail);
    return sent ? text({ method: sent.method, params: stripped(sent.params) }) : "";
  };
  const answered = (/** @type {import("./contract.js").RowDetail} */ detail) => {
    const { result, error } = resultOf(detail);
    return text(error === undefined ? { result } : { error });
  };
  const whole = (/** @type {import("./contract.js").RowDetail} */ detail) => detail.parts.map(({ text: body }) => body ?? "").join("\n");
  const known = [a, b].every((detail) => requestOf(detail) !== null && Object.values(resultOf(detail)).some((value) => value !== undefined));
  if (!known) return [{ name: "Messages", before: whole(a), after: whole(b) }];
  return [{ name: "Request", before: asked(a), after: asked(b) }, { name: "Answer", before: answered(a), after: answered(b) }];
}

/**
 * Without the members of `_meta` that belong to one sending.
 * @param {any} params
 */
export function stripped(params) {
  if (params === null || typeof params !== "object" || !params._meta || typeof params._meta !== "object") return params;
  const { progressToken: _token, ...meta } = params._meta;
  const own = Object.fromEntries(Object.entries(meta).filter(([name]) => !name.startsWith("io.modelcontextprotocol/")));
  const { _meta, ...rest } = params;
  return Object.keys(own).length > 0 ? { ...rest, _meta: own } : rest;
}

export async function makeTests() {
  const { marks, place } = store.state;
  const rows = marks.length > 0 ? [...marks].sort((a, b) => a - b) : place.at ? [place.at] : [];
  if (rows.length === 0) {
    say("nothing is marked – select messages and press v", true);
    return;
  }
  const tests = await attempt(() => post("/api/tests", { rows }));
  if (tests) store.dispatch({ type: "dialog", dialog: { kind: "test", ...tests } });
}

export async function saveTrace() {
  const session = targetOf(store.state)?.session;
  if (!session) {
    say("nothing has crossed yet – connect first", true);
    return;
  }
  await attempt(() => download(address("/api/trace", { session }), `session-${session}.jsonl`));
}

/** @param {string} yaml */
export const saveTests = (yaml) => save(new Blob([yaml], { type: "application/yaml" }), "recorded.mcp.yaml");

/** @param {string} id */
export async function explain(id) {
  const rule = await attempt(() => get(`/api/rule/${encodeURIComponent(id)}`));
  if (rule) store.dispatch({ type: "dialog", dialog: { kind: "rule", id: rule.id, text: rule.text } });
}

/** @param {string} copied */
export async function copy(copied) {
  try {
    await navigator.clipboard.writeText(copied);
    say("Copied");
  } catch {
    say("the browser does not let this page copy – select the text and copy it", true);
  }
}

export const findings = () => get("/api/findings");

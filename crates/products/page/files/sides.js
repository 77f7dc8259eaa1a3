// The two sides of a comparison: which session of which target each is, what its server offered there, and calls sent to it.
// `sidesFrom`, `sidesText`, `changesOf` are pure.

import { load, readRow, readRows, requestOf, resultOf, store, wholePart } from "./actions.js";
import { equals, sorted } from "./parts/beside.js";
import { COLUMN } from "./rows.js";

/**
 * @typedef {{ target: number, session: number }} Side a session of 0 is the newest one
 * @typedef {{ greeting: any, tools: any[] | null, prompts: any[] | null, resources: any[] | null, templates: any[] | null }} Surface null: not listed
 * @typedef {"tools" | "prompts" | "resources" | "templates"} What
 */

/** @type {Record<What, { method: string, member: string, id: string }>} */
export const LISTS = {
  tools: { method: "tools/list", member: "tools", id: "name" },
  prompts: { method: "prompts/list", member: "prompts", id: "name" },
  resources: { method: "resources/list", member: "resources", id: "uri" },
  templates: { method: "resources/templates/list", member: "resourceTemplates", id: "uriTemplate" },
};
const PAGES = 1000;

/** @param {string} text such as `1.0~2.3` @returns {[Side, Side] | null} */
export function sidesFrom(text) {
  const found = /^(\d{1,6})\.(\d{1,6})~(\d{1,6})\.(\d{1,6})$/.exec(text);
  if (!found) return null;
  const [, a, b, c, d] = found.map(Number);
  return [{ target: a, session: b }, { target: c, session: d }];
}

/** @param {[Side, Side]} sides */
export const sidesText = ([a, b]) => `${a.target}.${a.session}~${b.target}.${b.session}`;

/**
 * The sides that are shown: those of the address, else the first two servers, else the last two sessions of the first.
 * @param {import("./state.js").State} state
 * @returns {[Side, Side] | null}
 */
export function sidesOf(state) {
  const targets = state.server?.targets ?? [];
  const chosen = sidesFrom(state.place.item);
  if (chosen && chosen.every((side) => targets.some(({ target }) => target === side.target))) return chosen;
  if (targets.length >= 2) return [{ target: targets[0].target, session: 0 }, { target: targets[1].target, session: 0 }];
  return targets.length === 1 ? connects(state, targets[0].target) : null;
}

/**
 * The connection before, and the newest one.
 * @param {import("./state.js").State} state
 * @param {number} target
 * @returns {[Side, Side] | null}
 */
export function connects(state, target) {
  const sessions = (state.server?.sessions ?? []).filter((one) => one.target === target && !one.app);
  const before = sessions.at(-2);
  return before ? [{ target, session: before.session }, { target, session: 0 }] : null;
}

/** @param {import("./state.js").State} state @param {Side} side */
export const targetAt = (state, side) => state.server?.targets.find(({ target }) => target === side.target) ?? null;

/** The number of the side's session. @param {import("./state.js").State} state @param {Side} side */
export const sessionAt = (state, side) => side.session || targetAt(state, side)?.session || 0;

/** Whether something can be sent to a side: it is the open connection of its target. @param {import("./state.js").State} state @param {Side} side */
export function isLive(state, side) {
  const target = targetAt(state, side);
  return target?.state === "open" && sessionAt(state, side) === target.session;
}

/** Reads the lists of a live side, as far as its server has them. @param {import("./state.js").State} state @param {Side} side @param {boolean} fresh */
export async function listAll(state, side, fresh) {
  const target = targetAt(state, side);
  if (!target || !isLive(state, side)) return;
  const has = /** @type {Record<string, any>} */ (target.capabilities ?? {});
  for (const what of ["tools", "prompts", "resources", "templates"]) {
    if (has[what === "templates" ? "resources" : what]) await load(what, fresh, target);
  }
}

/**
 * What a server said of itself in a session, read from its traffic: so it is known of recordings and of connections that are over.
 * @param {number} session
 * @returns {Promise<Surface>}
 */
export async function surfaceOf(session) {
  const [first, discovered] = await Promise.all(["initialize", "server/discover"].map((method) => newest(session, method, 1)));
  const greeted = first[0] ?? discovered[0];
  const surface = /** @type {Surface} */ ({ greeting: greeted?.result ?? null, tools: null, prompts: null, resources: null, templates: null });
  for (const [what, { method, member }] of Object.entries(LISTS)) {
    const items = itemsOf(await newest(session, method, PAGES), member);
    const declared = surface.greeting?.capabilities;
    // What a server does not declare it does not list: that is known without asking.
    const none = isDeclared(declared) && !declared[what === "templates" ? "resources" : what] ? [] : null;
    surface[/** @type {What} */ (what)] = items ?? none;
  }
  return surface;
}

/** @param {any} capabilities */
const isDeclared = (capabilities) => capabilities !== null && typeof capabilities === "object";

/**
 * The newest answered requests of a method, newest first, up to the first page of a list.
 * @param {number} session
 * @param {string} method
 * @param {number} most
 */
async function newest(session, method, most) {
  const { rows } = await readRows({ from: -most, count: most }, `session:${session} dir:out status:ok method:${method}`);
  const found = [];
  for (const row of [...rows].reverse()) {
    const detail = await whole(await readRow(Number(row[COLUMN.n])));
    const params = requestOf(detail)?.params;
    found.push({ result: resultOf(detail).result, params });
    if (params?.cursor === undefined || params.cursor === null) break;
  }
  return found;
}

/** A row whose long answer is read to its end. @param {import("./contract.js").RowDetail} detail */
async function whole(detail) {
  const cut = detail.parts.find(({ role, cut: isCut }) => role === "response" && isCut);
  if (!cut) return detail;
  const bytes = await wholePart(Number(detail.row[COLUMN.n]), cut.part);
  const data = bytes.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
  const body = bytes.startsWith("{") ? bytes : data.join("\n");
  return { ...detail, parts: detail.parts.map((part) => (part === cut ? { ...part, text: body, cut: false, json: true } : part)) };
}

/** @param {{ result: any, params: any }[]} pages newest first @param {string} member @returns {any[] | null} */
function itemsOf(pages, member) {
  const lists = [...pages].reverse().map(({ result }) => result?.[member]);
  return lists.length > 0 && lists.every(Array.isArray) ? lists.flat() : null;
}

/**
 * What a server says of itself, in the same members at every revision.
 * @param {any} greeting
 */
export function described(greeting) {
  if (greeting === null || typeof greeting !== "object") return undefined;
  const server = greeting.serverInfo ?? greeting._meta?.["io.modelcontextprotocol/serverInfo"];
  return { server, capabilities: greeting.capabilities, instructions: greeting.instructions };
}

/**
 * @typedef {{ name: string, change: "same" | "changed" | "left" | "right", left: any, right: any }} Change
 *
 * What came, went or changed between two lists, by name; `null` where one of them is not known.
 * @param {any[] | null} left
 * @param {any[] | null} right
 * @param {string} id
 * @returns {Change[] | null}
 */
export function changesOf(left, right, id) {
  if (left === null || right === null) return null;
  const [before, after] = [byName(left, id), byName(right, id)];
  const names = [...before.keys(), ...[...after.keys()].filter((name) => !before.has(name))];
  return names.map((name) => {
    const [a, b] = [before.get(name), after.get(name)];
    const change = a === undefined ? "right" : b === undefined ? "left" : equals(a, b) ? "same" : "changed";
    return { name, change, left: a && sorted(a), right: b && sorted(b) };
  });
}

/** Items with the same name get a number. @param {any[]} items @param {string} id @returns {Map<string, any>} */
function byName(items, id) {
  const found = new Map();
  for (const item of items) {
    const name = String(item?.[id] ?? "");
    let key = name;
    for (let n = 2; found.has(key); n += 1) key = `${name} (${n})`;
    found.set(key, item);
  }
  return found;
}

/** In a few words: `1 added, 2 changed`. @param {Change[]} changes */
export function changeWords(changes) {
  const of = (/** @type {string} */ change) => changes.filter((one) => one.change === change).length;
  const words = [[of("right"), "only on the right"], [of("left"), "only on the left"], [of("changed"), "changed"]];
  return words.filter(([n]) => Number(n) > 0).map(([n, word]) => `${n} ${word}`).join(", ");
}

/**
 * Sends a call to both sides at once.
 * @param {import("./state.js").State} state
 * @param {[Side, Side]} sides
 * @param {(target: number) => Promise<number | null>} send
 */
export async function toBoth(state, sides, send) {
  const [left, right] = await Promise.all(sides.map((side) => (isLive(state, side) ? send(side.target) : null)));
  if (left || right) store.dispatch({ type: "pair", pair: { left: left ?? 0, right: right ?? 0 } });
}

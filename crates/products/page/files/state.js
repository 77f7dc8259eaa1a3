// What the page shows: one immutable value, changed by named actions alone. The part that a link shares is the address's fragment.
// Everything here is pure except `Store`.

/** @typedef {"traffic" | "tools" | "resources" | "prompts" | "findings" | "server" | "questions" | "log" | "tasks" | "compare"} View */

/** @type {View[]} */
export const VIEWS = ["traffic", "tools", "resources", "prompts", "findings", "server", "questions", "log", "tasks", "compare"];

/**
 * @typedef {object} Place the part that the address holds
 * @property {View} view
 * @property {string} q filter
 * @property {number} at selected row, or 0
 * @property {string} item selected tool, prompt, resource or rule
 * @property {number} target selected target, or 0 for the first
 *
 * @typedef {{ value: any, text: string | null }} Draft arguments of a tool; `text` while its JSON is edited
 * @typedef {{ items: any[], error: import("./contract.js").Problem | null, session: number, loading: boolean }} List
 *
 * @typedef {object} State
 * @property {Place} place
 * @property {import("./contract.js").ServerState | null} server
 * @property {"connecting" | "open" | "lost" | "refused" | "bye"} link
 * @property {import("./contract.js").Problem | null} problem of the link
 * @property {number[]} marks rows marked for a test
 * @property {{ left: number, right: number }} pair rows of the call that went to both sides, or 0
 * @property {number} base row that others are compared with, or 0
 * @property {boolean} follow
 * @property {boolean} timeline
 * @property {boolean} letters
 * @property {boolean} raw whether messages are shown as text instead of as a tree
 * @property {any} dialog what is open above the page: `{ kind, … }`
 * @property {{ text: string, bad: boolean, n: number } | null} notice
 * @property {Record<string, List>} lists by `target/what`
 * @property {Record<string, Draft>} drafts by `target/kind/name`
 * @property {Record<string, number>} sent the newest row by `target/kind/name`
 */

/** @returns {State} */
export function initial() {
  return {
    place: { view: "traffic", q: "", at: 0, item: "", target: 0 },
    server: null,
    link: "connecting",
    problem: null,
    marks: [],
    base: 0,
    pair: { left: 0, right: 0 },
    follow: true,
    timeline: true,
    letters: true,
    raw: false,
    dialog: null,
    notice: null,
    lists: {},
    drafts: {},
    sent: {},
  };
}

/** @typedef {{ type: string, [member: string]: any }} Action */

/** @type {Record<string, (state: State, action: any) => State>} */
const REDUCERS = {
  go: (state, { view, item = "", q = state.place.q, at = state.place.at }) => ({ ...state, dialog: null, place: { ...state.place, view, item, q, at } }),
  address: (state, { place }) => ({ ...state, place: { ...state.place, ...place } }),
  filter: (state, { q }) => ({ ...state, place: { ...state.place, q } }),
  select: (state, { at }) => (at === state.place.at ? state : { ...state, place: { ...state.place, at } }),
  item: (state, { item }) => ({ ...state, place: { ...state.place, item } }),
  target: (state, { target }) => ({ ...state, place: { ...state.place, target, item: "" } }),
  server: (state, { server }) => ({ ...state, server }),
  link: (state, { link, problem = null }) => ({ ...state, link, problem }),
  follow: (state, { on = !state.follow }) => (on === state.follow ? state : { ...state, follow: on }),
  timeline: (state) => ({ ...state, timeline: !state.timeline }),
  letters: (state, { on = !state.letters }) => ({ ...state, letters: on }),
  raw: (state, { on = !state.raw }) => ({ ...state, raw: on }),
  mark: (state, { n }) => ({ ...state, marks: state.marks.includes(n) ? state.marks.filter((one) => one !== n) : [...state.marks, n] }),
  unmark: (state) => ({ ...state, marks: [] }),
  pair: (state, { pair }) => ({ ...state, pair }),
  base: (state, { n }) => ({ ...state, base: n }),
  dialog: (state, { dialog }) => ({ ...state, dialog }),
  notice: (state, { text, bad = false }) => ({ ...state, notice: { text, bad, n: (state.notice?.n ?? 0) + 1 } }),
  quiet: (state, { n }) => (state.notice?.n === n ? { ...state, notice: null } : state),
  list: (state, { key, list }) => ({ ...state, lists: { ...state.lists, [key]: list } }),
  draft: (state, { key, draft }) => ({ ...state, drafts: { ...state.drafts, [key]: draft } }),
  sent: (state, { key, row }) => ({ ...state, sent: { ...state.sent, [key]: row } }),
};

/**
 * @param {State} state
 * @param {Action} action
 * @returns {State}
 */
export function reduce(state, action) {
  const reducer = REDUCERS[action.type];
  if (!reducer) throw new Error(`unknown action ${action.type}`);
  return reducer(state, action);
}

/**
 * @param {string} fragment without `#`
 * @returns {Partial<Place>}
 */
export function placeFrom(fragment) {
  const params = new URLSearchParams(fragment);
  const view = /** @type {View} */ (params.get("view") ?? "traffic");
  const whole = (/** @type {string} */ name) => {
    const value = Number(params.get(name));
    return Number.isSafeInteger(value) && value > 0 ? value : 0;
  };
  return {
    view: VIEWS.includes(view) ? view : "traffic",
    q: params.get("q") ?? "",
    item: params.get("item") ?? "",
    at: whole("at"),
    target: whole("target"),
  };
}

/** @param {Place} place */
export function fragmentOf(place) {
  const params = new URLSearchParams();
  if (place.view !== "traffic") params.set("view", place.view);
  if (place.q) params.set("q", place.q);
  if (place.item) params.set("item", place.item);
  if (place.at) params.set("at", String(place.at));
  if (place.target) params.set("target", String(place.target));
  return params.toString();
}

/**
 * The target that is shown.
 * @param {State} state
 * @returns {import("./contract.js").Target | null}
 */
export function targetOf(state) {
  const targets = state.server?.targets ?? [];
  return targets.find(({ target }) => target === state.place.target) ?? targets[0] ?? null;
}

/**
 * The side of a gateway that a target is; empty for every other target.
 * @param {State} state
 * @param {number} number
 */
export function sideOf(state, number) {
  const target = state.server?.targets.find(({ target }) => target === number);
  return target?.kind === "gateway" ? target.label : "";
}

/**
 * Whether the target's server can be asked.
 * @param {State} state
 */
export const canAsk = (state) => targetOf(state)?.state === "open";

export class Store {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
  }

  /** @param {Action} action */
  dispatch(action) {
    const next = reduce(this.state, action);
    if (next === this.state) return;
    this.state = next;
    for (const listener of this.listeners) listener();
  }

  /** @param {() => void} listener */
  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

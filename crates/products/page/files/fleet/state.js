// What the page of the fleet shows: one immutable value, changed by named actions alone. The part that a link shares is the
// address's fragment. Everything here is pure except `Store`.

import { NAME, comparison } from "./rows.js";

/** @typedef {"gates" | "history" | "waivers" | "playbook"} View */

/** @type {View[]} */
export const VIEWS = ["gates", "history", "waivers", "playbook"];

/**
 * @typedef {object} Place the part that the address holds
 * @property {string} q filter
 * @property {string} sort name of a column, with `-` in front from the largest
 * @property {string} at selected server
 * @property {boolean} open whether its details are shown
 * @property {View} view
 * @property {string} gate which gate is unfolded
 *
 * @typedef {object} State
 * @property {Place} place
 * @property {import("./contract.js").FleetState | null} fleet
 * @property {import("./contract.js").Row[]} rows of all servers
 * @property {number} seq number of the last change
 * @property {number[] | null} matched places of the rows that the filter leaves; null for all
 * @property {import("./contract.js").Server | null} server the details of the selected one
 * @property {string} finding which finding is unfolded: its rule and place
 * @property {import("./contract.js").Evidence[] | null} evidence of that finding
 * @property {import("../contract.js").Problem | null} missing why there is no evidence, or are no details
 * @property {import("../contract.js").Problem | null} filterProblem
 * @property {"connecting" | "open" | "lost" | "refused" | "bye"} link
 * @property {import("../contract.js").Problem | null} problem of the link
 * @property {boolean} letters whether letters are keys
 * @property {boolean} log whether the outcomes of the run are listed
 * @property {"palette" | "help" | null} dialog
 * @property {{ text: string, bad: boolean, n: number } | null} notice
 */

/** @returns {State} */
export function initial() {
  return {
    place: { q: "", sort: "", at: "", open: false, view: "gates", gate: "" },
    fleet: null, rows: [], seq: 0, matched: null, server: null, finding: "", evidence: null, missing: null, filterProblem: null,
    link: "connecting", problem: null, letters: true, log: false, dialog: null, notice: null,
  };
}

/** @type {Record<string, (state: State, action: any) => State>} */
const REDUCERS = {
  address: (state, { place }) => ({ ...state, place: { ...state.place, ...place } }),
  fleet: (state, { fleet }) => ({ ...state, fleet }),
  rows: (state, { rows, seq }) => ({ ...state, rows, seq }),
  changed: (state, { rows: changed, seq }) => {
    const rows = [...state.rows];
    for (const [at, row] of changed) rows[at] = row;
    return { ...state, rows, seq };
  },
  matched: (state, { matched }) => ({ ...state, matched, filterProblem: null }),
  filterProblem: (state, { problem }) => ({ ...state, filterProblem: problem }),
  filter: (state, { q }) => ({ ...state, place: { ...state.place, q } }),
  sort: (state, { sort }) => ({ ...state, place: { ...state.place, sort } }),
  select: (state, { at }) => (at === state.place.at ? state : { ...state, place: { ...state.place, at, gate: "" }, server: null, finding: "", evidence: null, missing: null }),
  open: (state, { open }) => ({ ...state, place: { ...state.place, open } }),
  view: (state, { view }) => ({ ...state, place: { ...state.place, view, open: true } }),
  gate: (state, { gate }) => ({ ...state, place: { ...state.place, gate: state.place.gate === gate ? "" : gate, view: "gates" }, finding: "", evidence: null, missing: null }),
  server: (state, { server }) => ({ ...state, server, missing: null }),
  finding: (state, { finding }) => ({ ...state, finding: state.finding === finding ? "" : finding, evidence: null, missing: null }),
  evidence: (state, { evidence }) => ({ ...state, evidence, missing: null }),
  missing: (state, { problem }) => ({ ...state, missing: problem }),
  link: (state, { link, problem = null }) => ({ ...state, link, problem }),
  letters: (state, { on = !state.letters }) => ({ ...state, letters: on }),
  log: (state) => ({ ...state, log: !state.log }),
  dialog: (state, { dialog }) => ({ ...state, dialog }),
  notice: (state, { text, bad = false }) => ({ ...state, notice: { text, bad, n: (state.notice?.n ?? 0) + 1 } }),
  quiet: (state, { n }) => (state.notice?.n === n ? { ...state, notice: null } : state),
};

/**
 * @param {State} state
 * @param {{ type: string, [member: string]: any }} action
 * @returns {State}
 */
export function reduce(state, action) {
  const reducer = REDUCERS[action.type];
  if (!reducer) throw new Error(`unknown action ${action.type}`);
  return reducer(state, action);
}

/** @param {string} fragment without `#` @returns {Place} */
export function placeFrom(fragment) {
  const params = new URLSearchParams(fragment);
  const text = (/** @type {string} */ name) => params.get(name) ?? "";
  const view = /** @type {View} */ (text("view"));
  return { q: text("q"), sort: text("sort"), at: text("at"), open: params.has("view"), view: VIEWS.includes(view) ? view : "gates", gate: text("gate") };
}

/** @param {Place} place */
export function fragmentOf(place) {
  const params = new URLSearchParams();
  if (place.q) params.set("q", place.q);
  if (place.sort) params.set("sort", place.sort);
  if (place.at) params.set("at", place.at);
  if (place.open) params.set("view", place.view);
  if (place.open && place.gate) params.set("gate", place.gate);
  return params.toString();
}

/**
 * The rows that are shown, in their order.
 * @param {import("./contract.js").Row[]} rows
 * @param {number[] | null} matched
 * @param {string} sort
 * @param {string[]} gates
 */
export function ordered(rows, matched, sort, gates) {
  const shown = matched ? matched.map((at) => rows[at]).filter(Boolean) : [...rows];
  const compare = comparison(sort.replace(/^-/, ""), gates);
  if (!compare) return shown;
  const by = sort.startsWith("-") ? -1 : 1;
  return shown.sort((one, other) => by * compare(one, other) || (one[NAME] < other[NAME] ? -1 : 1));
}

export class Store {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
  }

  /** @param {{ type: string, [member: string]: any }} action */
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

// What the page asks of `proof fleet ui`, in the words of the page. Every failure becomes a notice; nothing throws at a view.

import { address, download, get, post, problemOf, problemText } from "../api.js";
import { Feed } from "../feed.js";
import { Store, initial } from "./state.js";

export const store = new Store(initial());

/** @param {string} text @param {boolean} [bad] */
export function say(text, bad = false) {
  store.dispatch({ type: "notice", text, bad });
  const { n } = /** @type {{ n: number }} */ (store.state.notice);
  if (!bad) setTimeout(() => store.dispatch({ type: "quiet", n }), 4000);
}

/**
 * @template T
 * @param {() => Promise<T>} act
 * @returns {Promise<T | null>} null where it failed, which the reader sees
 */
async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    say(problemText(problemOf(error)), true);
    return null;
  }
}

const feed = new Feed({
  onBlock: (event, data) => {
    if (event === "state") return took(data);
    if (event !== "servers") return;
    store.dispatch({ type: "changed", rows: data.rows, seq: data.seq });
    if (store.state.place.q) void match();
    const { at } = store.state.place;
    if (data.rows.some((/** @type {[number, import("./contract.js").Row]} */ [, row]) => row[0] === at)) void readServer();
  },
  onLink: (link, error) => store.dispatch({ type: "link", link, problem: error ? problemOf(error) : null }),
});

/** Takes a state, and tells how a run ended. @param {import("./contract.js").FleetState} fleet */
function took(fleet) {
  const before = store.state.fleet?.run;
  store.dispatch({ type: "fleet", fleet });
  if (before?.running && fleet.run && !fleet.run.running) {
    say(`${fleet.run.what}: ${fleet.run.text}`, fleet.run.failed);
    void readServer();
  }
}

/** Reads everything, and follows. */
export async function start() {
  try {
    store.dispatch({ type: "fleet", fleet: await get("/api/state") });
    const { rows, seq } = await get("/api/servers");
    store.dispatch({ type: "rows", rows, seq });
    feed.start("", seq);
    if (store.state.place.q) await match();
    if (store.state.place.open) await readServer();
  } catch (error) {
    store.dispatch({ type: "link", link: "refused", problem: problemOf(error) });
  }
}

let asked = 0;

/** Filters. */
export async function match() {
  const { q } = store.state.place;
  const mine = ++asked;
  if (q.trim() === "") return store.dispatch({ type: "matched", matched: null });
  try {
    const { matched } = await get("/api/match", { filter: q });
    if (mine === asked) store.dispatch({ type: "matched", matched });
  } catch (error) {
    if (mine === asked) store.dispatch({ type: "filterProblem", problem: problemOf(error) });
  }
}

/** @param {string} q */
export function filter(q) {
  store.dispatch({ type: "filter", q });
  void match();
}

/** @param {string} text @param {number} at */
export const complete = (text, at) => get("/api/complete", { filter: text, at });

let reading = 0;

/** Reads the details of the selected server. */
export async function readServer() {
  const { at, open } = store.state.place;
  const mine = ++reading;
  if (!at || !open) return;
  try {
    const server = await get("/api/server", { name: at });
    if (mine === reading) store.dispatch({ type: "server", server });
  } catch (error) {
    if (mine === reading) store.dispatch({ type: "missing", problem: problemOf(error) });
  }
}

/** What a finding is known by. @param {import("./contract.js").Finding} finding */
export const keyOf = (finding) => `${finding.rule}\n${finding.place}`;

/** Unfolds a finding and reads its evidence, or folds it. @param {string} gate @param {import("./contract.js").Finding} finding */
export async function unfold(gate, finding) {
  const key = keyOf(finding);
  store.dispatch({ type: "finding", finding: key });
  if (store.state.finding !== key) return;
  const { at } = store.state.place;
  const isStill = () => store.state.finding === key && store.state.place.at === at;
  try {
    const { evidence } = await get("/api/evidence", { server: at, gate, rule: finding.rule, place: finding.place });
    if (isStill()) store.dispatch({ type: "evidence", evidence });
  } catch (error) {
    if (isStill()) store.dispatch({ type: "missing", problem: problemOf(error) });
  }
}

/** @param {Record<string, unknown>} request */
export async function run(request) {
  const answer = await attempt(() => post("/api/run", request));
  if (answer) say(`Running ${answer.started}`);
}

export async function cancel() {
  const answer = await attempt(() => post("/api/cancel", {}));
  if (answer) say(answer.cancelled ? "Cancelling: workers give their jobs back" : "nothing is running");
}

/** Opens a trace in an inspector. A window that opens after an answer would be blocked: it is opened at once. @param {string} gate @param {string} trace */
export async function inspect(gate, trace) {
  const opened = window.open("", "_blank");
  const answer = await attempt(() => post("/api/inspect", { server: store.state.place.at, gate, trace }));
  if (!answer) return opened?.close();
  if (!opened) return say(`the browser opened no window: allow it, or open ${answer.address}`, true);
  opened.opener = null;
  opened.location.href = answer.address;
}

/** @param {string} gate */
export const saveReport = (gate) => attempt(() => download(address("/api/report", { server: store.state.place.at, gate }), `${store.state.place.at}-${gate}.json`));

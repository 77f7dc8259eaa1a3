// Everything that crossed: the list, the strip of time, and the details of one row. The log is the same list with a filter of its own.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { VirtualList, cells, write } from "../parts/list.js";
import { Timeline } from "../parts/timeline.js";
import { Filter } from "../parts/filter.js";
import { Button } from "../parts/pane.js";
import { Detail } from "./detail.js";
import { COLUMN, RowStore, fits } from "../rows.js";
import { Feed } from "../feed.js";
import { ApiError, hasToken } from "../api.js";
import { complete, problemOf, readRows, say, store } from "../actions.js";
import { clock, duration, size, visible, count } from "../format.js";
import { sideOf } from "../state.js";

const LOG = "(kind:stderr | method:notifications/message)";
const CLASSES = ["c-n", "c-at", "c-dir", "c-method", "c-name", "c-status", "c-took", "c-size", "c-findings"];
const HEADS = ["row", "time", "direction", "method", "name", "status", "duration", "size", "findings"];
const STRIP = 2000;

/**
 * The list and its feed live outside of the components: they go on while another view is shown.
 * @typedef {import("../rows.js").Row} Row
 */
export class Traffic {
  constructor() {
    this.filter = "";
    /** @type {import("../contract.js").Problem | null} */
    this.problem = null;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    this.store = new RowStore((query) => readRows(query, this.filter), () => this.changed());
    this.feed = new Feed({ onBlock: (event, data) => this.block(event, data), onLink: (link, error) => this.link(link, error) });
    this.opening = 0;
    /** A place that was chosen before its row was known, or -1. */
    this.chosen = -1;
  }

  changed() {
    for (const listener of this.listeners) listener();
  }

  /**
   * @param {string} filter
   * @param {import("../contract.js").Problem | null} [problem] of another filter, in place of which this one is shown
   */
  async open(filter, problem = null) {
    if (!hasToken()) return;
    const mine = ++this.opening;
    this.feed.stop();
    try {
      const answer = await readRows({ from: -200, count: 200 }, filter);
      if (mine !== this.opening) return;
      this.filter = filter;
      this.problem = problem;
      this.chosen = -1;
      this.store.forget(true);
      this.store.seq = 0;
      this.store.take(answer);
      this.feed.start(filter, answer.seq);
      this.changed();
    } catch (error) {
      if (mine !== this.opening) return;
      this.failed(error);
    }
  }

  /** @param {any} error */
  failed(error) {
    const wrongFilter = error instanceof ApiError && error.status === 400;
    this.problem = problemOf(error);
    if (!wrongFilter) this.link(error instanceof ApiError && [401, 403].includes(error.status) ? "refused" : "lost", error);
    // The list stays as it was for the last filter that was right.
    else if (this.store.seq > 0) this.feed.start(this.filter, this.store.seq);
    else void this.open("", this.problem);
    this.changed();
    if (!wrongFilter) setTimeout(() => { if (store.state.link === "lost") void this.open(this.filter); }, 2000);
  }

  /**
   * @param {any} link
   * @param {any} [error]
   */
  link(link, error) {
    store.dispatch({ type: "link", link, problem: error ? problemOf(error) : null });
  }

  /**
   * @param {string} event
   * @param {any} data
   */
  block(event, data) {
    if (event === "rows") this.store.feed(data);
    else if (event === "state") {
      if (!fits(data.columns)) this.link("refused", new ApiError(0, { what: "this page and `proof inspect` are of different versions", try: "reload the page" }));
      store.dispatch({ type: "server", server: data });
    }
  }

  sleep() {
    this.feed.stop();
  }

  wake() {
    if (this.store.seq > 0) this.feed.start(this.filter, this.store.seq);
  }
}

/** @param {string} view @param {string} q */
export const filterOf = (view, q) => (view === "log" ? (q.trim() ? `${LOG} (${q})` : LOG) : q);

/**
 * @param {{ state: import("../state.js").State, traffic: Traffic, list: { current: VirtualList | null } }} props
 */
export function TrafficView({ state, traffic, list }) {
  const { view, q, at } = state.place;
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const strip = useRef(/** @type {Timeline | null} */ (null));
  const [, repaint] = useState(0);
  const [version, setVersion] = useState("");
  useEffect(() => {
    const wanted = filterOf(view, q);
    if (traffic.filter !== wanted || traffic.store.seq === 0) void traffic.open(wanted);
  }, [view, q]);
  useLayoutEffect(() => {
    const made = makeList(traffic, view);
    host.current?.append(made.node);
    list.current = made;
    const changed = () => {
      update(made, traffic);
      strip.current?.show(() => stripRows(traffic), store.state.place.at);
      setVersion(versionOf(traffic));
      repaint((n) => n + 1);
    };
    traffic.listeners.add(changed);
    changed();
    if (store.state.follow) made.toEnd();
    return () => {
      traffic.listeners.delete(changed);
      made.destroy();
      list.current = null;
    };
  }, [view]);
  useEffect(() => {
    const place = traffic.store.place(at);
    if (list.current && place >= 0) {
      list.current.choose(place, true);
      list.current.reveal(place);
    } else if (at && list.current) {
      void find(traffic, list.current, at);
    }
    strip.current?.show(() => stripRows(traffic), at);
  }, [at, traffic.filter]);
  useEffect(() => list.current?.plan(), [state.marks]);
  return html`
    <div class=${`traffic ${at ? "with-detail" : ""}`}>
      <section class="messages-pane" aria-label=${view === "log" ? "Log" : "Traffic"}>
        <div class="toolbar">
          <${Filter} value=${q} placeholder="Filter: method:tools/call status:error took>200ms" problem=${traffic.problem} complete=${complete} onChange=${(/** @type {string} */ text) => store.dispatch({ type: "filter", q: text })} />
          <span class="amount" role="status">${amount(traffic.store, q)}</span>
          <${Button} label="Follow" kind="small" pressed=${state.follow} title="Follow new messages (f)" onClick=${() => follow(list.current)} />
        </div>
        <div class="messages" ref=${host}></div>
        ${traffic.store.matched === 0 && html`<${Nothing} state=${state} q=${q} view=${view} />`}
      </section>
      <section class="detail" aria-label="Details">
        ${state.timeline && html`<${Strip} strip=${strip} traffic=${traffic} at=${at} />`}
        <${Detail} n=${at} version=${version} state=${state} traffic=${traffic} />
      </section>
    </div>`;
}

/** @param {RowStore} rows @param {string} q */
function amount(rows, q) {
  return q.trim() ? `${rows.matched.toLocaleString("en")} of ${rows.total.toLocaleString("en")}` : count(rows.total, "row");
}

/** What changes when the selected row does. @param {Traffic} traffic */
function versionOf(traffic) {
  const place = traffic.store.place(store.state.place.at);
  const row = place >= 0 ? traffic.store.row(place) : null;
  return row ? [row[COLUMN.parts], row[COLUMN.status], row[COLUMN.findings]].join(" ") : "";
}

/** @param {Traffic} traffic */
function stripRows(traffic) {
  const { matched } = traffic.store;
  const rows = [];
  for (let index = Math.max(0, matched - STRIP); index < matched; index += 1) {
    const row = traffic.store.row(index);
    if (row) rows.push(row);
  }
  return rows;
}

/** @param {VirtualList | null} list */
function follow(list) {
  store.dispatch({ type: "follow" });
  if (store.state.follow) list?.toEnd();
}

/** @param {{ strip: { current: Timeline | null }, traffic: Traffic, at: number }} props */
function Strip({ strip, traffic, at }) {
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const made = new Timeline({
      onPick: (n) => store.dispatch({ type: "select", at: n }),
      onBrush: (from, to) => addTerm(`at>=${from}us at<=${to}us`),
    });
    host.current?.append(made.node);
    strip.current = made;
    made.show(() => stripRows(traffic), at);
    return () => {
      made.destroy();
      strip.current = null;
    };
  }, []);
  return html`<div class="strip" ref=${host}></div>`;
}

/** @param {string} term */
export function addTerm(term) {
  const { q } = store.state.place;
  store.dispatch({ type: "filter", q: q.trim() ? `${q.trim()} ${term}` : term });
}

/** @param {{ state: import("../state.js").State, q: string, view: string }} props */
function Nothing({ state, q, view }) {
  if (q.trim()) return html`<div class="nothing">No row matches the filter. <button type="button" class="link" onClick=${() => store.dispatch({ type: "filter", q: "" })}>Show all rows</button></div>`;
  if (state.link === "connecting") return html`<div class="nothing">Connecting…</div>`;
  return html`<div class="nothing">${view === "log" ? "The server has written nothing to stderr and sent no log messages." : "Nothing has crossed yet."}</div>`;
}

/**
 * A selected row whose place is unknown.
 * @param {Traffic} traffic
 * @param {VirtualList} list
 * @param {number} n
 */
async function find(traffic, list, n) {
  try {
    const answer = await readRows({ at: n, count: 100 }, traffic.filter);
    if (n !== store.state.place.at || Number(answer.rows[0]?.[COLUMN.n]) !== n) return;
    traffic.store.take(answer);
    list.setCount(traffic.store.matched);
    list.choose(answer.from, true);
    list.reveal(answer.from);
    store.dispatch({ type: "follow", on: false });
  } catch {
    // The list says why it cannot be read.
  }
}

/** @param {Traffic} traffic @param {string} view */
function makeList(traffic, view) {
  /** @type {VirtualList} */
  const list = new VirtualList({
    label: view === "log" ? "Log" : "Messages",
    rowHeight: 24,
    columns: HEADS,
    paint: (row, index) => paint(row, traffic.store.row(index)),
    onSelect: (index) => {
      const row = traffic.store.row(index);
      traffic.chosen = row ? -1 : index;
      if (row) store.dispatch({ type: "select", at: Number(row[COLUMN.n]) });
      if (index < list.count - 1) store.dispatch({ type: "follow", on: false });
    },
    onScrollUp: () => store.dispatch({ type: "follow", on: false }),
    onWindow: (from, to) => traffic.store.want(from, to),
  });
  return list;
}

/** @param {VirtualList} list @param {Traffic} traffic */
function update(list, traffic) {
  list.setCount(traffic.store.matched);
  const { at } = store.state.place;
  const place = traffic.store.place(at);
  const chosen = traffic.chosen >= 0 ? traffic.store.row(traffic.chosen) : undefined;
  if (chosen) {
    traffic.chosen = -1;
    store.dispatch({ type: "select", at: Number(chosen[COLUMN.n]) });
  } else if (place >= 0) list.choose(place, true);
  else if (traffic.chosen < 0 && traffic.store.row(list.selected)?.[COLUMN.n] !== at) list.choose(-1, true);
  list.plan();
  if (store.state.follow) list.toEnd();
}

const ARROWS = /** @type {Record<string, string>} */ ({ out: "→", in: "←" });
const SIGNS = /** @type {Record<string, string>} */ ({ ok: "", error: "error", pending: "pending", late: "late", cancelled: "cancelled", hung: "hung" });
const KINDS = /** @type {Record<string, string>} */ ({ stderr: "stderr", http: "HTTP", bytes: "bytes", end: "end", mark: "note", app: "app" });

/**
 * @param {HTMLElement} row
 * @param {Row | undefined} data
 */
function paint(row, data) {
  const [n, at, dir, method, name, status, took, bytes, findings] = cells(row, CLASSES);
  row.classList.toggle("unknown", !data);
  if (!data) {
    for (const cell of row.children) write(/** @type {HTMLElement} */ (cell), "");
    return;
  }
  const state = String(data[COLUMN.status]);
  const number = Number(data[COLUMN.n]);
  const marked = store.state.marks.includes(number);
  row.classList.toggle("marked", marked);
  row.classList.toggle("child", Number(data[COLUMN.parent]) > 0);
  row.dataset.kind = String(data[COLUMN.kind]);
  write(n, marked ? `✓ ${number}` : String(number));
  write(at, (Number(data[COLUMN.at]) / 1e6).toFixed(3));
  write(dir, ARROWS[String(data[COLUMN.dir])] ?? "");
  const ofApp = data[COLUMN.kind] === "app";
  dir.setAttribute("aria-label", ofApp ? (data[COLUMN.dir] === "in" ? "to the app" : "from the app") : data[COLUMN.dir] === "in" ? "from the server" : "to the server");
  const named = visible(data[COLUMN.method] || KINDS[String(data[COLUMN.kind])] || data[COLUMN.kind], 80);
  write(method, ofApp && data[COLUMN.method] ? `app ${named.replace(/^ui\/notifications\//, "…/")}` : named);
  const side = sideOf(store.state, Number(data[COLUMN.target]));
  write(name, [visible(data[COLUMN.name], 160), side && visible(side, 80)].filter(Boolean).join(" · "));
  write(status, (data[COLUMN.kind] === "call" || (ofApp && data[COLUMN.id] !== "")) && state === "ok" ? "ok" : SIGNS[state] ?? visible(state, 20));
  status.dataset.status = state;
  write(took, data[COLUMN.took] === null ? "" : duration(Number(data[COLUMN.took]) / 1000));
  write(bytes, size(Number(data[COLUMN.size])));
  paintFindings(findings, Number(data[COLUMN.findings]), String(data[COLUMN.level]));
}

/** @param {HTMLElement} cell @param {number} found @param {string} level */
function paintFindings(cell, found, level) {
  write(cell, found > 0 ? `${level === "must" || level === "safety" ? "✕" : "!"} ${found}` : "");
  cell.className = `c-findings ${found === 0 ? "" : level === "must" || level === "safety" ? "f" : "w"}`;
  if (found > 0) cell.setAttribute("aria-label", `${count(found, "finding")}, ${level}`);
  else cell.removeAttribute("aria-label");
}

/**
 * The next row with a finding.
 * @param {Traffic} traffic
 * @param {number} by 1 or -1
 */
export async function nextFinding(traffic, by) {
  const { at, q, view } = store.state.place;
  const range = by > 0 ? `row:${at + 1}..${Number.MAX_SAFE_INTEGER}` : `row:1..${Math.max(1, at - 1)}`;
  const filter = [filterOf(view, q), "finding:*", range].filter(Boolean).map((term) => (term.includes("|") ? `(${term})` : term)).join(" ");
  try {
    const answer = await readRows({ from: by > 0 ? 0 : -1, count: 1 }, filter);
    const row = answer.rows[0];
    if (row && Number(row[COLUMN.n]) !== at) store.dispatch({ type: "select", at: Number(row[COLUMN.n]) });
    else say(by > 0 ? "no finding after this message" : "no finding before this message");
  } catch (error) {
    say(problemOf(error).what, true);
  }
}

/** @param {import("../contract.js").ServerState | null} server @param {number} at µs */
export const wallClock = (server, at) => (server ? clock((server.began + at) / 1000) : "");

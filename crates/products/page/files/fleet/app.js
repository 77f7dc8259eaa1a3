// Starts the page of the fleet: takes the token, reads, follows, draws the frame, dispatches keys.

import { html, render, useEffect, useMemo, useState } from "../html.js";
import { hasToken, takeToken } from "../api.js";
import { visible } from "../format.js";
import { ProblemNote } from "../parts/button.js";
import { Chooser } from "../parts/chooser.js";
import { Guard } from "../parts/guard.js";
import { keyLabel } from "../parts/key-table.js";
import { KeyTable, Letters, Modal } from "../parts/modal.js";
import { recall, remember, takeTheme, turnTheme } from "../parts/theme.js";
import { cancel, filter, inspect, match, readServer, run as runServers, saveReport, say, start, store } from "./actions.js";
import { Detail } from "./detail.js";
import { COMMANDS, commandFor } from "./keys.js";
import { followPrinting } from "./print.js";
import { LIGHTS, NAME } from "./rows.js";
import { RunStrip } from "./run.js";
import { VIEWS, fragmentOf, placeFrom } from "./state.js";
import { Table, columnsOf } from "./table.js";

/** The list of servers. @type {{ current: import("../parts/list.js").VirtualList | null }} */
const list = { current: null };

/** Filters that every fleet has. */
const USUAL = [["All servers", ""], ["Failed", "is:failed"], ["Incomplete", "is:incomplete"], ["Old or not run", "is:stale"], ["Running", "is:running"], ["Waived", "is:waived"], ["Below wanted", "below"], ["Fallen", "fallen"], ["Held", "held"]];

function useStore() {
  const [state, setState] = useState(store.state);
  useEffect(() => {
    setState(store.state);
    return store.subscribe(() => setState(store.state));
  }, []);
  return state;
}

function App() {
  const state = useStore();
  const { place, fleet } = state;
  useEffect(() => {
    document.title = `${place.open && place.at ? `${visible(place.at, 60)} – ` : ""}${visible(fleet?.fleet ?? "proof fleet", 60)} – proof fleet`;
  }, [fleet?.fleet, place.at, place.open]);
  useEffect(() => writeAddress(place), [place]);
  return html`
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => { event.preventDefault(); list.current?.node.focus(); }}>Skip to the servers</a>
    <${Rail} state=${state} />
    <main id="main" tabindex="-1">
      <h1 class="unseen">Fleet <bdi>${visible(fleet?.fleet ?? "", 60)}</bdi></h1>
      <${Banner} state=${state} />
      <div class=${place.open ? "fleet with-detail" : "fleet"}>
        <div class="table-pane"><${Guard}><${Table} state=${state} list=${list} run=${run} /><//></div>
        ${place.open && html`<${Guard} key=${place.at}><${Detail} state=${state} run=${run} /><//>`}
      </div>
      <${RunStrip} state=${state} run=${run} />
    </main>
    <div class="notices" role="status" aria-live="polite">${state.notice && html`
      <p class=${state.notice.bad ? "notice f" : "notice"}><bdi>${visible(state.notice.text, 600)}</bdi>
        <button type="button" class="quiet" aria-label="Dismiss" onClick=${() => store.dispatch({ type: "quiet", n: state.notice?.n })}>×</button></p>`}</div>
    ${state.dialog === "palette" && html`<${Modal} key="palette" title="Commands" bare close=${close}><${Palette} state=${state} /><//>`}
    ${state.dialog === "help" && html`<${Modal} key="help" title="Keys" close=${close}><${KeyTable} commands=${COMMANDS} />
      <h3>Gates</h3><dl class="legend">${Object.values(LIGHTS).map(({ word, sign }) => html`<div key=${word}><dt class="light" data-light=${word}>${sign}</dt><dd>${word}</dd></div>`)}</dl>
      <${Letters} on=${state.letters} turn=${() => run("letters")} /><//>`}`;
}

const close = () => store.dispatch({ type: "dialog", dialog: null });

/** @param {{ state: import("./state.js").State }} props */
function Rail({ state }) {
  const { fleet, place } = state;
  const saved = fleet?.dashboards.map(({ name, filter }) => [name, filter]) ?? [];
  const link = (/** @type {string[]} */ [label, q]) => html`<li key=${label}>
    <a href=${`#${fragmentOf({ ...place, q })}`} aria-current=${q === place.q ? "page" : undefined} title=${q || "no filter"}
      onClick=${(/** @type {MouseEvent} */ event) => { if (event.ctrlKey || event.metaKey) return; event.preventDefault(); filter(q); }}><bdi>${visible(label, 40)}</bdi></a></li>`;
  return html`
    <nav class="rail" aria-label="Filters">
      <p class="brand"><span aria-hidden="true" class="logo"></span><b>proof</b> fleet</p>
      <ul>${USUAL.map(link)}</ul>
      ${saved.length > 0 && html`<h2 class="rail-title">Dashboards</h2><ul>${saved.map(link)}</ul>`}
      <div class="rail-foot">
        ${fleet && html`<p class="target" title=${visible(fleet.fleet, 200)}><span class="dot" data-state=${state.link === "open" ? "open" : "connecting"} aria-hidden="true"></span><bdi>${visible(fleet.fleet, 60)}</bdi></p>
          <p class="dim">${visible(fleet.sum, 300)}</p>`}
        <div class="rail-buttons">
          <button type="button" class="small" title="Command palette (Ctrl+K)" onClick=${() => run("palette")}>Commands</button>
          <button type="button" class="small" title="Keys (?)" aria-label="Keys" onClick=${() => run("help")}>?</button>
          <button type="button" class="small" title="Light or dark (T)" aria-label="Light or dark" onClick=${() => run("theme")}>◐</button>
        </div>
      </div>
    </nav>`;
}

/** @param {{ state: import("./state.js").State }} props */
function Banner({ state }) {
  if (state.link === "refused") return html`<${ProblemNote} problem=${state.problem} />`;
  if (state.link === "lost") return html`<p class="problem" role="alert">The connection to <code>proof fleet ui</code> is lost. Trying again…</p>`;
  if (state.link === "bye") return html`<p class="problem" role="status">proof fleet ui has ended. What is shown stays until you close the page.</p>`;
  if (state.fleet?.problem) return html`<${ProblemNote} problem=${{ what: state.fleet.problem }} />`;
  return null;
}

/** @param {{ state: import("./state.js").State }} props */
function Palette({ state }) {
  const entries = useMemo(() => {
    const skipped = ["palette", "next", "previous", "page-down", "page-up", "open", "back"];
    const commands = COMMANDS.filter(({ id }) => !skipped.includes(id)).map(({ id, label, keys, group }) => ({ id, label, kind: group, keys: keys[0] ? keyLabel(keys[0]) : "", run: () => run(id) }));
    const filters = [...USUAL, ...(state.fleet?.dashboards.map(({ name, filter }) => [name, filter]) ?? [])].map(([label, q]) => ({ id: `filter ${label}`, label, kind: "filter", keys: "", run: () => filter(q) }));
    const sorts = columnsOf(state.fleet?.gates ?? []).map((column) => ({ id: `sort ${column}`, label: `Sort by ${column}`, kind: "sort", keys: "", run: () => store.dispatch({ type: "sort", sort: column }) }));
    const servers = state.rows.map((row) => ({ id: `server ${row[NAME]}`, label: row[NAME], kind: "server", keys: "", run: () => go(row[NAME]) }));
    return [...commands, ...filters, ...sorts, ...servers];
  }, [state.rows, state.fleet?.gates]);
  return html`<${Chooser} entries=${entries} close=${close} placeholder="A command, filter or server" />`;
}

/** Shows a server. @param {string} name */
function go(name) {
  store.dispatch({ type: "select", at: name });
  store.dispatch({ type: "open", open: true });
  void readServer();
  setTimeout(() => list.current?.reveal(list.current.selected), 60);
}

/** @param {import("./state.js").Place} place */
function writeAddress(place) {
  const next = `#${fragmentOf(place)}`;
  if (next === location.hash || (next === "#" && location.hash === "")) return;
  history.replaceState(null, "", next);
}

const inDetail = () => document.activeElement?.closest(".detail") ?? null;

/** Moves among what can be opened in the details. @param {number} by */
function stop(by) {
  const stops = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".detail [data-stop]")]);
  const at = stops.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const next = stops[at < 0 ? 0 : Math.min(stops.length - 1, Math.max(0, at + by))];
  next?.focus();
}

/** Opens the details of the selected server, and goes to them. */
function open() {
  const { place } = store.state;
  if (!place.at) list.current?.choose(0);
  if (!store.state.place.at) return;
  store.dispatch({ type: "open", open: true });
  void readServer();
  let tries = 0;
  const focus = () => {
    const first = /** @type {HTMLElement | null} */ (document.querySelector(".detail [data-stop]") ?? document.querySelector(".detail .tabs [aria-pressed=true]"));
    if (first && store.state.server) first.focus();
    else if (++tries < 40) setTimeout(focus, 25);
  };
  setTimeout(focus, 0);
}

function back() {
  const { place } = store.state;
  if (document.activeElement instanceof HTMLInputElement || inDetail()) {
    list.current?.node.focus();
    if (!inDetail() && matchMedia("(max-width: 60rem)").matches) store.dispatch({ type: "open", open: false });
    return;
  }
  if (place.open) store.dispatch({ type: "open", open: false });
  else if (place.q) filter("");
}

/** Does what a key or an entry of the palette stands for. @param {string} id */
export function run(id) {
  const { place, fleet } = store.state;
  if (id.startsWith("view-")) {
    if (!place.at) return say("select a server first", true);
    store.dispatch({ type: "view", view: VIEWS.find((view) => view === id.slice(5)) });
    return void readServer();
  }
  const step = (/** @type {number} */ by) => (inDetail() ? stop(by) : list.current?.step(by));
  /** @type {Record<string, () => void>} */
  const acts = {
    next: () => step(1),
    previous: () => step(-1),
    "page-down": () => list.current?.step(list.current.visible),
    "page-up": () => list.current?.step(-list.current.visible),
    first: () => jump(0),
    last: () => jump((list.current?.count ?? 0) - 1),
    open,
    back,
    filter: () => {
      const box = /** @type {HTMLInputElement | null} */ (document.querySelector("[data-filter]"));
      box?.focus();
      box?.select();
    },
    sort: () => {
      const columns = columnsOf(fleet?.gates ?? []);
      const next = columns[columns.indexOf(place.sort.replace(/^-/, "")) + 1] ?? "";
      store.dispatch({ type: "sort", sort: next });
      say(next ? `Sorted by ${next}` : "In the order of fleet.yaml");
    },
    reverse: () => {
      const column = place.sort || "server";
      store.dispatch({ type: "sort", sort: column.startsWith("-") ? column.slice(1) : `-${column}` });
    },
    inspect: () => {
      const trace = store.state.evidence?.find((one) => one.trace)?.trace;
      if (trace) void inspect(place.gate, trace);
      else say("open a finding that has a trace first", true);
    },
    run: () => (place.at ? void runServers({ kind: "server", server: place.at }) : say("select a server first", true)),
    "run-changed": () => void runServers({ kind: "changed" }),
    "run-due": () => void runServers({ kind: "due" }),
    "run-shown": () => void runServers({ kind: "shown", filter: place.q }),
    cancel: () => void cancel(),
    log: () => store.dispatch({ type: "log" }),
    print: () => print(),
    save: () => (place.gate ? void saveReport(place.gate) : say("open a gate first", true)),
    palette: () => store.dispatch({ type: "dialog", dialog: "palette" }),
    help: () => store.dispatch({ type: "dialog", dialog: "help" }),
    theme: () => turnTheme(),
    letters: () => {
      store.dispatch({ type: "letters" });
      remember("proof-keys", String(store.state.letters));
      say(store.state.letters ? "Letters are keys" : "Letters are not keys");
    },
  };
  acts[id]?.();
}

/** @param {number} index */
function jump(index) {
  list.current?.choose(index);
  list.current?.reveal(list.current.selected);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const target = event.target instanceof Element ? event.target : null;
  const place = {
    typing: Boolean(target?.closest("input:not([type=checkbox]), textarea, select")),
    pressable: Boolean(target?.closest("button, a, summary, input[type=checkbox]")),
    inList: Boolean(target?.closest("[role=grid]")),
    view: inDetail() ? "detail" : "table",
    dialog: store.state.dialog !== null,
    letters: store.state.letters,
  };
  const command = commandFor(event, place);
  if (!command) return;
  event.preventDefault();
  run(command);
}

function begin() {
  const fragment = takeToken(location.hash);
  history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname);
  store.dispatch({ type: "address", place: placeFrom(fragment) });
  takeTheme();
  if (recall("proof-keys") === "false") store.dispatch({ type: "letters", on: false });
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    const rest = takeToken(location.hash);
    if (`#${rest}` !== location.hash) history.replaceState(null, "", `#${rest}`);
    store.dispatch({ type: "address", place: placeFrom(rest) });
    void match();
    void readServer();
  });
  followPrinting();
  const root = /** @type {HTMLElement} */ (document.getElementById("app"));
  root.replaceChildren();
  render(html`<${App} />`, root);
  if (hasToken()) void start();
  else store.dispatch({ type: "link", link: "refused", problem: { what: "This address has no token", try: "open the address that `proof fleet ui` printed, with all that follows its #" } });
}

begin();

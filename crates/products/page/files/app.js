// Starts the page: takes the token, opens the feed, draws the frame, dispatches keys.

import { html, render, useEffect } from "./html.js";
import { hasToken, takeToken } from "./api.js";
import { attempt, compare, load, makeTests, readRow, resend, saveTrace, say, store } from "./actions.js";
import { commandFor } from "./keys.js";
import { VIEWS, fragmentOf, placeFrom, targetOf } from "./state.js";
import { Dialogs } from "./dialogs.js";
import { Traffic, TrafficView, filterOf, nextFinding } from "./views/traffic.js";
import { copyRow, edit } from "./views/detail.js";
import { ToolsView } from "./views/tools.js";
import { ResourcesView } from "./views/resources.js";
import { PromptsView } from "./views/prompts.js";
import { FindingsView } from "./views/findings.js";
import { ServerView } from "./views/server.js";
import { QuestionsView } from "./views/questions.js";
import { TasksView } from "./views/tasks.js";
import { CompareView, showChanges, swapSides } from "./views/compare.js";
import { Guard } from "./parts/guard.js";
import { recall, remember, takeTheme, turnTheme } from "./parts/theme.js";
import { ProblemNote, useStore } from "./parts/pane.js";
import { visible } from "./format.js";

const traffic = new Traffic();
/** The list of the view that is shown. @type {{ current: import("./parts/list.js").VirtualList | null }} */
const list = { current: null };

const TITLES = /** @type {Record<string, string>} */ ({
  traffic: "Traffic", tools: "Tools", resources: "Resources", prompts: "Prompts", findings: "Findings", server: "Server", questions: "Questions", log: "Log", tasks: "Tasks", compare: "Compare",
});

function App() {
  const state = useStore();
  const { view } = state.place;
  useEffect(() => {
    document.title = `${TITLES[view]} – proof inspect`;
  }, [view]);
  useEffect(() => writeAddress(state.place), [state.place]);
  return html`
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
    <${Rail} state=${state} />
    <main id="main" tabindex="-1">
      <h1 class="unseen">${TITLES[view]}</h1>
      <${Banner} state=${state} />
      <${Guard} key=${view}><${Shown} state=${state} /><//>
    </main>
    <${Notice} state=${state} />
    <${Dialogs} state=${state} run=${run} />`;
}

/** @param {{ state: import("./state.js").State }} props */
function Shown({ state }) {
  switch (state.place.view) {
    case "tools": return html`<${ToolsView} state=${state} list=${list} />`;
    case "resources": return html`<${ResourcesView} state=${state} list=${list} />`;
    case "prompts": return html`<${PromptsView} state=${state} list=${list} />`;
    case "findings": return html`<${FindingsView} state=${state} list=${list} />`;
    case "server": return html`<${ServerView} state=${state} />`;
    case "tasks": return html`<${TasksView} state=${state} list=${list} />`;
    case "compare": return html`<${CompareView} state=${state} />`;
    case "questions": return html`<${QuestionsView} state=${state} />`;
    default: return html`<${TrafficView} key=${state.place.view} state=${state} traffic=${traffic} list=${list} />`;
  }
}

/** @param {{ state: import("./state.js").State }} props */
function Rail({ state }) {
  const target = targetOf(state);
  const targets = state.server?.targets ?? [];
  const counts = /** @type {Record<string, number>} */ ({ findings: state.server?.findings ?? 0, questions: state.server?.questions.length ?? 0 });
  return html`
    <nav class="rail" aria-label="Views">
      <p class="brand"><span aria-hidden="true" class="logo"></span><b>proof</b> inspect</p>
      <ul>${VIEWS.map((view, at) => html`<li key=${view}>
        <a href=${`#${fragmentOf({ ...state.place, view, item: "" })}`} aria-current=${view === state.place.view ? "page" : undefined} title=${`${TITLES[view]} (${(at + 1) % 10})`}
          onClick=${(/** @type {MouseEvent} */ event) => { if (event.ctrlKey || event.metaKey) return; event.preventDefault(); store.dispatch({ type: "go", view }); }}>
          ${TITLES[view]}${counts[view] > 0 && html`<span class=${`pill ${view === "questions" ? "ask" : "f"}`}>${counts[view]}</span>`}</a></li>`)}</ul>
      <div class="rail-foot">
        ${targets.length > 1 && html`<label class="unseen" for="target">Target</label>
          <select id="target" value=${String(target?.target)} onChange=${(/** @type {any} */ e) => store.dispatch({ type: "target", target: Number(e.target.value) })}>
            ${targets.map((one) => html`<option key=${one.target} value=${String(one.target)}>${visible(one.label, 60)}</option>`)}</select>`}
        ${target && html`<p class="target" title=${visible(target.label, 300)}>
          <span class="dot" data-state=${target.state} aria-hidden="true"></span><bdi>${visible(target.server?.name ?? target.label, 60)}</bdi></p>
          <p class="dim">${visible(target.state, 20)}${target.revision && html`, <bdi>${visible(target.revision, 20)}</bdi>`}</p>`}
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
  const target = targetOf(state);
  if (state.link === "refused") return html`<${ProblemNote} problem=${state.problem} />`;
  if (state.link === "lost") return html`<p class="problem" role="alert">The connection to <code>proof inspect</code> is lost. Trying again…</p>`;
  if (state.link === "bye") return html`<p class="problem" role="status">proof inspect has ended. What is shown stays until you close the page.</p>`;
  if (state.server?.ring.failed) return html`<${ProblemNote} problem=${{ what: `traffic is no longer kept on disk: ${state.server.ring.failed}` }} />`;
  if (target?.state === "failed" && state.place.view !== "server") return html`<${ProblemNote} problem=${target.error} />`;
  return null;
}

/** @param {{ state: import("./state.js").State }} props */
function Notice({ state }) {
  const { notice } = state;
  return html`<div class="notices" role="status" aria-live="polite">${notice && html`
    <p class=${notice.bad ? "notice f" : "notice"}><bdi>${visible(notice.text, 600)}</bdi>
      <button type="button" class="quiet" aria-label="Dismiss" onClick=${() => store.dispatch({ type: "quiet", n: notice.n })}>×</button></p>`}</div>`;
}

/** @param {import("./state.js").Place} place */
function writeAddress(place) {
  const next = `#${fragmentOf(place)}`;
  if (next === location.hash || (next === "#" && location.hash === "")) return;
  const view = placeFrom(location.hash.slice(1)).view;
  if (view === place.view) history.replaceState(null, "", next);
  else history.pushState(null, "", next);
}

const NO_TASK = "select a task in the view Tasks first";

/** Does what a key or an entry of the palette stands for. @param {string} id */
export function run(id) {
  const { place, dialog } = store.state;
  if (id.startsWith("view-")) return store.dispatch({ type: "go", view: id.slice(5) });
  /** @type {Record<string, () => void>} */
  const acts = {
    next: () => list.current?.step(1),
    previous: () => list.current?.step(-1),
    "page-down": () => list.current?.step(list.current.visible),
    "page-up": () => list.current?.step(-list.current.visible),
    first: () => jump(0),
    last: () => jump((list.current?.count ?? 0) - 1),
    open: () => openDetail(),
    back: () => back(),
    "next-finding": () => void nextFinding(traffic, 1),
    "previous-finding": () => void nextFinding(traffic, -1),
    filter: () => focusOn("[data-filter]"),
    follow: () => {
      store.dispatch({ type: "follow" });
      if (store.state.follow) list.current?.toEnd();
    },
    timeline: () => store.dispatch({ type: "timeline" }),
    copy: () => void withRow(copyRow),
    mark: () => place.at && store.dispatch({ type: "mark", n: place.at }),
    "to-test": () => void makeTests(),
    base: () => {
      if (!place.at) return;
      store.dispatch({ type: "base", n: place.at });
      say(`Row ${place.at} is compared with the row on which you press =`);
    },
    compare: () => void compare(store.state.base, place.at),
    edit: () => void withRow(edit),
    resend: () => place.at && void resend(place.at),
    call: () => store.dispatch({ type: "go", view: "tools" }),
    send: () => press("[data-send-button]"),
    "call-task": () => press("[data-task-button]", "open a tool that may run as a task first"),
    "poll-task": () => press("[data-poll]", NO_TASK),
    "task-result": () => press("[data-result]", NO_TASK),
    "cancel-task": () => press("[data-cancel]", NO_TASK),
    "list-tasks": () => press("[data-list]", "open the view Tasks of a server with a list of tasks first"),
    changes: () => showChanges(),
    swap: () => (place.view === "compare" ? swapSides() : say("open the view Compare first", true)),
    again: () => press("[data-again]", "open the view Compare first"),
    twin: () => press("[data-twin]"),
    "open-app": () => press("[data-app]", "call a tool that has an app first"),
    answer: () => answerNext(),
    diagnose: () => onServer("[data-examine]", "examine"),
    authorize: () => onServer("[data-authorize]", "get a token for"),
    save: () => void saveTrace(),
    palette: () => {
      for (const what of ["tools", "prompts", "resources", "templates"]) void load(what);
      store.dispatch({ type: "dialog", dialog: { kind: "palette" } });
    },
    help: () => store.dispatch({ type: "dialog", dialog: dialog?.kind === "help" ? null : { kind: "help" } }),
    theme: () => {
      turnTheme();
      list.current?.plan();
    },
    letters: () => {
      store.dispatch({ type: "letters" });
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

function openDetail() {
  if (!list.current || list.current.selected < 0) return;
  const detail = document.querySelector(".detail");
  for (const selector of ["input, textarea", "[role=treeitem][tabindex='0']", "button"]) {
    const first = /** @type {HTMLElement | null} */ (detail?.querySelector(selector));
    if (first) return first.focus();
  }
}

function back() {
  const { place } = store.state;
  const active = document.activeElement;
  if (active instanceof HTMLElement && !active.closest("[role=grid]") && list.current) return list.current.node.focus();
  if (place.view === "traffic" || place.view === "log") store.dispatch({ type: "select", at: 0 });
  else store.dispatch({ type: "item", item: "" });
}

/** @param {string} selector */
function focusOn(selector) {
  const node = /** @type {HTMLInputElement | null} */ (document.querySelector(selector));
  node?.focus();
  node?.select?.();
}

/** The button nearest to where the reader is. @param {string} selector @param {string} [missing] what is said if there is no such button */
function press(selector, missing = "") {
  const here = document.activeElement?.closest("[data-question], [data-call]") ?? document;
  const node = /** @type {HTMLButtonElement | null} */ (here.querySelector(selector) ?? document.querySelector(selector));
  if (!node && missing) say(missing, true);
  node?.click();
}

/** @param {(detail: import("./contract.js").RowDetail) => void} act */
async function withRow(act) {
  const { at } = store.state.place;
  if (!at) return say("select a message first", true);
  const detail = await attempt(() => readRow(at));
  if (detail) act(detail);
}

function answerNext() {
  const ofApp = /** @type {HTMLElement | null} */ (document.querySelector("[data-app-ask] button"));
  if (ofApp) return ofApp.focus();
  if ((store.state.server?.questions.length ?? 0) === 0) return say("no question of the server is open");
  if (!document.querySelector("[data-question]")) store.dispatch({ type: "go", view: "questions" });
  setTimeout(() => focusOn("[data-question] input, [data-question] textarea, [data-question] select, [data-question] button"), 60);
}

/** Presses a button of the view of the server. @param {string} selector @param {string} what */
function onServer(selector, what) {
  store.dispatch({ type: "go", view: "server" });
  setTimeout(() => {
    const node = /** @type {HTMLButtonElement | null} */ (document.querySelector(selector));
    if (!node) return say(`there is no server to ${what} here`, true);
    node.scrollIntoView({ block: "center" });
    node.focus();
    node.click();
  }, 60);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const target = event.target instanceof Element ? event.target : null;
  const typing = Boolean(target?.closest("input:not([type=checkbox]), textarea, select"));
  const place = {
    typing,
    pressable: Boolean(target?.closest("button, a, summary, input[type=checkbox], [role=treeitem]")),
    inList: Boolean(target?.closest("[role=grid]")),
    view: store.state.place.view === "log" ? "traffic" : store.state.place.view,
    dialog: store.state.dialog !== null,
    letters: store.state.letters,
  };
  const command = commandFor(event, place);
  if (!command) return;
  event.preventDefault();
  run(command);
}

function start() {
  const fragment = takeToken(location.hash);
  history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname);
  store.dispatch({ type: "address", place: placeFrom(fragment) });
  takeTheme();
  if (recall("proof-keys") === "false") store.dispatch({ type: "letters", on: false });
  let { letters } = store.state;
  store.subscribe(() => {
    if (store.state.letters === letters) return;
    letters = store.state.letters;
    remember("proof-keys", String(letters));
  });
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    const rest = takeToken(location.hash);
    if (`#${rest}` !== location.hash) history.replaceState(null, "", `#${rest}`);
    store.dispatch({ type: "address", place: placeFrom(rest) });
  });
  document.addEventListener("visibilitychange", () => (document.hidden ? traffic.sleep() : traffic.wake()));
  const root = /** @type {HTMLElement} */ (document.getElementById("app"));
  root.replaceChildren();
  render(html`<${App} />`, root);
  if (!hasToken()) {
    store.dispatch({ type: "link", link: "refused", problem: { what: "This address has no token", try: "open the address that `proof inspect` printed, with all that follows its #" } });
  } else if (!["traffic", "log"].includes(store.state.place.view)) {
    void traffic.open(filterOf("traffic", store.state.place.q));
  }
}

start();

// An app in its frame: on another origin, sandboxed, with messages as the only way out. Below it stands what the app asks for, what it
// says, and what it was stopped from.

import { element, html, useEffect, useRef, useState } from "../html.js";
import { Button, ProblemNote, RowLink } from "./pane.js";
import { Bridge, Refusal, appOf, textOf } from "./app-bridge.js";
import { answerOf, closeApp, openApp, Notes } from "../apps.js";
import { post } from "../api.js";
import { problemOf, readRow, requestOf, store } from "../actions.js";
import { count, visible, visibleLines } from "../format.js";
import { targetOf } from "../state.js";

/** The height of a frame, in px. */
const LEAST = 60;
const MOST = 640;
/** How many questions of an app may be open, and how many of its sayings are shown. */
const ASKS = 8;
const SAID = 20;
/** How long a question cannot be answered, in ms: a click that was meant for the app must not be an answer. */
const PAUSE = 500;
/** How much is shown of one. */
const SHOWN = 4000;
/** How long the arguments of a call may be that the user is asked about: nobody allows what is not shown. */
const ASKED = 100_000;

/** @typedef {{ id: number, what: string, detail: string, always: boolean, done: (answer: "yes" | "always" | "no") => void }} Ask */

const isDark = () => (document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);

/**
 * @param {{ tool: any, row: number, state: import("../state.js").State, leave: { current: () => Promise<void> } }} props
 *   `leave` is set to what says goodbye to the app
 */
export function AppFrame({ tool, row, state, leave }) {
  const target = targetOf(state);
  const number = target?.target ?? 1;
  const [allow, setAllow] = useState(false);
  const [opened, setOpened] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  useEffect(() => {
    let app = "";
    let over = false;
    setOpened(null);
    setProblem(null);
    openApp(number, appOf(tool), allow).then(
      (answer) => {
        app = answer.app;
        if (over) void closeApp(app);
        else setOpened(answer);
      },
      (error) => { if (!over) setProblem(problemOf(error)); },
    );
    return () => { over = true; };
  }, [allow]);
  return html`
    <section class="app" aria-label="App">
      <header class="title-line">
        <h3>App</h3><bdi class="mono dim">${visible(appOf(tool), 300)}</bdi>
        ${opened?.row && html`<${RowLink} n=${opened.row} />`}
      </header>
      <${ProblemNote} problem=${problem} />
      ${!opened && !problem && html`<p class="note">Reading the app…</p>`}
      ${opened && html`<${Domains} opened=${opened} allow=${() => setAllow(true)} />`}
      ${opened && html`<${Frame} key=${opened.app} opened=${opened} row=${row} number=${number} state=${state} tool=${tool} leave=${leave} />`}
    </section>`;
}

/** @param {{ opened: any, allow: () => void }} props */
function Domains({ opened, allow }) {
  const { connect, resource, refused } = opened.domains;
  const wanted = [...new Set([...connect, ...resource])];
  return html`
    ${opened.asks && !opened.allowed && html`<div class="doubts"><p>The app asks to load from or connect to <bdi class="mono">${visible(wanted.join(", "), 1000)}</bdi>. Nothing is permitted so far.</p>
      <${Button} label="Allow these domains and reload" onClick=${allow} /></div>`}
    ${opened.allowed && html`<p class="note">Permitted: <bdi class="mono">${visible(wanted.join(", "), 1000)}</bdi></p>`}
    ${refused.length > 0 && html`<p class="note">Asked for and never given here: <bdi class="mono">${visible(refused.join(", "), 500)}</bdi></p>`}`;
}

/** What a bridge needs to know of the state while it changes. @param {import("../state.js").State} state @param {number} number */
const toolsOf = (state, number) => state.lists[`${number}/tools`]?.items ?? [];

/**
 * @param {{ opened: any, row: number, number: number, state: import("../state.js").State, tool: any, leave: { current: () => Promise<void> } }} props
 */
function Frame({ opened, row, number, state, tool, leave }) {
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const newest = useRef(state);
  newest.current = state;
  const [asks, setAsks] = useState(/** @type {Ask[]} */ ([]));
  const [said, setSaid] = useState(/** @type {{ n: number, what: string, text: string }[]} */ ([]));
  const [dropped, setDropped] = useState({ times: 0, why: "" });
  const [expelled, setExpelled] = useState("");
  const [left, setLeft] = useState("");
  useEffect(() => {
    const frame = frameOf(opened.url);
    const asking = new Asking(setAsks);
    const notes = new Notes((messages) => post("/api/app", { act: "note", app: opened.app, messages }));
    let times = 0;
    const bridge = new Bridge({
      post: (message) => frame.contentWindow?.postMessage(message, "*"),
      note: (from, text) => notes.add(from, text),
      context: () => ({ ...contextOf(frame), toolInfo: { tool: JSON.parse(textOf(tool) ?? "{}") } }),
      domains: opened.allowed ? { connectDomains: opened.domains.connect, resourceDomains: opened.domains.resource } : {},
      tools: () => toolsOf(newest.current, number).map((one) => JSON.parse(textOf(one) ?? "null")),
      mayCall: (one, given) => asking.call(one, given),
      request: async (method, params, parent) => {
        const sent = await post("/api/request", { target: number, method, params, ...(parent ? { parent } : {}) }).catch((error) => { throw new Refusal(-32000, problemOf(error).what); });
        return answerOf(sent.row, () => bridge.closed);
      },
      openLink: async (url) => {
        if (!(await asking.link(url))) return false;
        window.open(url, "_blank", "noopener,noreferrer");
        return true;
      },
      said: (what, content) => setSaid((before) => [...before, { n: (before.at(-1)?.n ?? 0) + 1, what, text: sayingOf(content) }].slice(-SAID)),
      // A question must stay where it is while it is open.
      resize: (height) => { if (asking.open.length === 0) frame.style.height = `${Math.min(MOST, Math.max(LEAST, Math.ceil(height)))}px`; },
      dropped: (why) => { times += 1; if (times < 10 || times % 100 === 0) setDropped({ times, why }); },
      expelled: (why) => {
        frame.remove();
        setExpelled(why);
      },
      version: newest.current.server?.version ?? "",
    });
    const received = (/** @type {MessageEvent} */ event) => {
      // Its origin is opaque: the window alone says who it is.
      if (event.source !== null && event.source === frame.contentWindow && event.origin === "null") bridge.receive(event.data);
    };
    addEventListener("message", received);
    const violated = (/** @type {SecurityPolicyViolationEvent} */ event) => { if (event.effectiveDirective === "frame-src") setLeft(event.blockedURI); };
    document.addEventListener("securitypolicyviolation", violated);
    const themes = new MutationObserver(() => bridge.changed({ theme: isDark() ? "dark" : "light" }));
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const themed = () => bridge.changed({ theme: isDark() ? "dark" : "light" });
    dark.addEventListener("change", themed);
    leave.current = () => bridge.goodbye("the user closes the app");
    host.current?.append(frame);
    void deliver(bridge, row);
    return () => {
      asking.end();
      document.removeEventListener("securitypolicyviolation", violated);
      themes.disconnect();
      dark.removeEventListener("change", themed);
      leave.current = async () => {};
      // Where its part of the page goes without a farewell, the app gets the message and is not waited for.
      void bridge.goodbye("the app is closed").then(async () => {
        removeEventListener("message", received);
        await notes.flushed();
        await closeApp(opened.app);
      });
    };
  }, []);
  const blocked = state.server?.apps?.find(({ app }) => app === opened.app)?.blocked ?? 0;
  return html`
    <div class="app-frame" ref=${host}></div>
    ${expelled && html`<p class="problem" role="alert">The app is closed: it sent ${visible(expelled, 200)}.</p>`}
    ${left && html`<p class="problem" role="alert">The app tried to leave its frame for <bdi class="mono">${visible(left, 300)}</bdi>. That was stopped; open it again.</p>`}
    ${/* One at a time: the next would move below the pointer, and a second click meant for this one would answer it. */""}
    ${asks.slice(0, 1).map((ask) => html`<${AskCard} key=${ask.id} ask=${ask} />`)}
    ${asks.length > 1 && html`<p class="note">${count(asks.length - 1, "more question")} of the app after this one</p>`}
    ${(blocked > 0 || dropped.times > 0) && html`<p class="bad" role="status">
      ${blocked > 0 && `The policy stopped ${count(blocked, "attempt")} of the app to load or send something. `}
      ${dropped.times > 0 && `${count(dropped.times, "message")} of the app were not taken: ${visible(dropped.why, 200)}.`}</p>`}
    ${said.map((one) => html`<div key=${one.n} class="block said"><p class="role">${SAYS[one.what] ?? "The app says"}</p><pre class="text" tabindex="0"><bdi>${visibleLines(one.text, SHOWN)}</bdi></pre></div>`)}
    <p class="note">Its messages are in the traffic: <button type="button" class="link" onClick=${() => store.dispatch({ type: "go", view: "traffic", q: `kind:app session:${opened.session}`, at: 0 })}>kind:app session:${opened.session}</button></p>`;
}

const SAYS = /** @type {Record<string, string>} */ ({
  message: "The app has a message for the conversation; it is shown here and sent nowhere", context: "The app has context for the model; it is shown here and sent nowhere", log: "The app logs",
});

/** @param {any} content */
function sayingOf({ role, level, content, structuredContent }) {
  const blocks = Array.isArray(content) ? content : [content];
  const texts = blocks.map((block) => (typeof block === "string" ? block : block?.type === "text" && typeof block.text === "string" ? block.text : JSON.stringify(block) ?? ""));
  const structured = structuredContent === undefined ? [] : [JSON.stringify(structuredContent)];
  const first = typeof role === "string" ? [`${role}:`] : typeof level === "string" ? [`${level}:`] : [];
  return [...first, ...texts, ...structured].join("\n").slice(0, SHOWN);
}

/** @param {string} url */
function frameOf(url) {
  const frame = /** @type {HTMLIFrameElement} */ (element("iframe", "app-view"));
  // Before its address: what is loaded is never outside of the sandbox.
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("referrerpolicy", "no-referrer");
  frame.setAttribute("allow", "");
  frame.setAttribute("title", "App of the server");
  frame.setAttribute("src", url);
  return frame;
}

/** @param {HTMLElement} frame */
function contextOf(frame) {
  return {
    theme: isDark() ? "dark" : "light", displayMode: "inline", availableDisplayModes: ["inline"],
    containerDimensions: { width: frame.clientWidth, maxHeight: MOST }, locale: navigator.language, platform: "web", userAgent: "proof inspect",
  };
}

/** Gives the app the arguments of its call and, when it ends, the result. @param {Bridge} bridge @param {number} row */
async function deliver(bridge, row) {
  try {
    const given = requestOf(await readRow(row))?.params?.arguments;
    bridge.notify("ui/notifications/tool-input", { arguments: JSON.parse(textOf(given) ?? "{}") });
    const result = await answerOf(row, () => bridge.closed);
    bridge.notify("ui/notifications/tool-result", result);
  } catch (error) {
    if (!bridge.closed) bridge.notify("ui/notifications/tool-cancelled", { reason: error instanceof Refusal ? error.message : "the call could not be read" });
  }
}

/** What an app asks of the user, one after another. */
class Asking {
  /** @param {(asks: Ask[]) => void} show */
  constructor(show) {
    this.show = show;
    /** @type {Ask[]} */
    this.open = [];
    this.number = 0;
    this.over = false;
    /** Tools that were allowed for as long as the app is open. @type {Set<string>} */
    this.allowed = new Set();
  }

  /** @param {string} what @param {string} detail @param {boolean} always whether it can be allowed for good @returns {Promise<"yes" | "always" | "no">} */
  ask(what, detail, always) {
    if (this.over || this.open.length >= ASKS) return Promise.resolve("no");
    return new Promise((resolve) => {
      const id = ++this.number;
      const done = (/** @type {"yes" | "always" | "no"} */ answer) => {
        this.open = this.open.filter((one) => one.id !== id);
        this.show(this.open);
        resolve(answer);
      };
      this.open = [...this.open, { id, what, detail, always, done }];
      this.show(this.open);
    });
  }

  /** @param {any} tool @param {any} given */
  async call(tool, given) {
    if (this.allowed.has(tool.name)) return true;
    const detail = JSON.stringify(given, null, 2);
    if (detail.length > ASKED) return false;
    const destroys = tool.annotations?.destructiveHint === true && tool.annotations?.readOnlyHint !== true;
    const what = `The app asks to call the tool ${visible(tool.name, 200)}${destroys ? ", which may destroy something" : ""}`;
    const answer = await this.ask(what, detail, !destroys);
    if (answer === "always") this.allowed.add(tool.name);
    return answer !== "no";
  }

  /** @param {string} url */
  async link(url) {
    return (await this.ask("The app asks to open an address in a new tab", url, false)) !== "no";
  }

  end() {
    this.over = true;
    for (const ask of this.open) ask.done("no");
  }
}

/** @param {{ ask: Ask }} props */
function AskCard({ ask }) {
  const [early, setEarly] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setEarly(false), PAUSE);
    return () => clearTimeout(timer);
  }, []);
  return html`<article class="question" data-app-ask aria-label="Question of the app" aria-live="polite">
    <h3>${ask.what}</h3>
    <pre class="text" tabindex="0"><bdi>${visibleLines(ask.detail, ASKED)}</bdi></pre>
    <div class="actions">
      <button type="button" class="strong" disabled=${early} onClick=${() => ask.done("yes")}>Allow</button>
      ${ask.always && html`<${Button} label="Allow while the app is open" disabled=${early} onClick=${() => ask.done("always")} />`}
      <${Button} label="Refuse" onClick=${() => ask.done("no")} />
    </div></article>`;
}

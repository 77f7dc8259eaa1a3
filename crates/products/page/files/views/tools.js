// Tools: the list, the form of one tool and its JSON, the call with progress and cancellation, what came back.

import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { ItemList } from "../parts/items.js";
import { Form } from "../parts/form.js";
import { Blocks, Tree } from "../parts/content.js";
import { AppFrame } from "../parts/app-frame.js";
import { appOf, isVisibleTo } from "../parts/app-bridge.js";
import { Button, ProblemNote, RowLink, useLastRound } from "../parts/pane.js";
import { QuestionsInline } from "./questions.js";
import { TaskLink, taskKind, taskOf, taskParams } from "./tasks.js";
import { describe, first, isObject, problems } from "../parts/form-model.js";
import { cancel, check, load, request, store } from "../actions.js";
import { COLUMN } from "../rows.js";
import { duration, named, visible, visibleLines } from "../format.js";
import { parse, text, tryParse } from "../json.js";
import { targetOf } from "../state.js";

/** @param {any} tool */
const nameOf = (tool) => (typeof tool?.name === "string" ? tool.name : "");

/**
 * @param {{ state: import("../state.js").State, list: any }} props
 */
export function ToolsView({ state, list }) {
  const target = targetOf(state);
  const key = `${target?.target}/tools`;
  const known = state.lists[key];
  useEffect(() => { void load("tools"); }, [target?.session, target?.state]);
  const tools = known?.items ?? [];
  const items = useMemo(() => tools.map((tool, at) => itemOf(tool, at)), [tools]);
  const place = items.findIndex((item) => item.id === state.place.item);
  const chosen = tools[place];
  const id = place >= 0 ? items[place].id : "";
  const empty = !target || target.state !== "open" ? "No server is connected." : known?.loading ? "Reading the list…" : "The server offers no tools.";
  return html`
    <div class=${`split ${chosen ? "with-detail" : ""}`}>
      <section class="side-list" aria-label="Tools">
        <${ItemList} label="Tools" items=${items} selected=${id} empty=${empty} list=${list}
          onSelect=${(/** @type {string} */ item) => store.dispatch({ type: "item", item })} />
        <${ProblemNote} problem=${known?.error} />
        <div class="foot"><${Button} label="Refresh" kind="small" onClick=${() => void load("tools", true)} /></div>
      </section>
      <section class="detail" aria-label="Tool">
        ${chosen ? html`<${Tool} key=${`${key}/${id}`} tool=${chosen} state=${state} />` : html`<div class="nothing">Select a tool to call it.</div>`}
      </section>
    </div>`;
}

/** @param {number} at Names may be empty or doubled, so that an item is known by its place. */
const itemId = (at) => `${at + 1}:`;

/** @param {any} tool @param {number} at */
function itemOf(tool, at) {
  const hints = isObject(tool?.annotations) ? tool.annotations : {};
  const [badge, tone] = hints.readOnlyHint === true ? ["read-only", "ok"] : hints.destructiveHint === true ? ["destructive", "f"] : ["", ""];
  const note = typeof tool?.title === "string" ? tool.title : typeof tool?.description === "string" ? tool.description.slice(0, 200) : "";
  const name = nameOf(tool);
  return { id: itemId(at), name, note, badge, tone, text: typeof tool?.description === "string" ? tool.description : "" };
}

/** @param {{ tool: any, state: import("../state.js").State }} props */
function Tool({ tool, state }) {
  const target = targetOf(state);
  const name = nameOf(tool);
  const key = `${target?.target}/tools/${name}`;
  const field = useMemo(() => describe(isObject(tool.inputSchema) ? tool.inputSchema : { type: "object" }), [tool]);
  const draft = state.drafts[key] ?? { value: field.kind === "object" ? first(field) : {}, text: null };
  const edited = draft.text === null ? { problem: null } : tryParse(draft.text);
  const [doubts, setDoubts] = useState(/** @type {string[]} */ ([]));
  const [app, setApp] = useState(false);
  const known = problems(field, draft.value);
  const row = state.sent[key] ?? 0;
  const change = (/** @type {any} */ next) => {
    setDoubts([]);
    store.dispatch({ type: "draft", key, draft: next });
  };
  const kind = taskKind(target, tool);
  const send = async (asTask = false) => {
    if (edited.problem !== null) return;
    const found = doubts.length > 0 ? [] : await doubtsOf(tool, name, draft.value);
    setDoubts(found);
    if (found.length > 0) return;
    await request("tools/call", { name, arguments: draft.value, ...(asTask ? taskParams(kind) : {}) }, { key, task: asTask && kind === "server" });
  };
  const twin = () => change(draft.text === null ? { ...draft, text: text(draft.value) } : { ...draft, text: null });
  return html`
    <div class="call" data-call>
      <${ToolHead} tool=${tool} />
      <div class="tabs" role="group" aria-label="Arguments">
        <button type="button" aria-pressed=${String(draft.text === null)} disabled=${edited.problem !== null} data-twin=${draft.text !== null ? "" : undefined} onClick=${() => draft.text !== null && twin()}>Form</button>
        <button type="button" aria-pressed=${String(draft.text !== null)} data-twin=${draft.text === null ? "" : undefined} onClick=${() => draft.text === null && twin()}>JSON <kbd aria-hidden="true">Ctrl+J</kbd></button>
      </div>
      ${draft.text === null
        ? html`<${Form} id=${`tool-${name}`} field=${field} value=${draft.value} problems=${known} onChange=${(/** @type {any} */ value) => change({ value, text: null })} />`
        : html`<${Twin} draft=${draft} problem=${edited.problem} problems=${known} onChange=${change} />`}
      ${doubts.length > 0 && html`<div class="doubts" role="alert">${doubts.map((doubt) => html`<p key=${doubt}>${visible(doubt, 300)}</p>`)}</div>`}
      <div class="actions send-line">
        <button type="button" class="strong" data-send-button disabled=${edited.problem !== null || target?.state !== "open"} onClick=${() => void send()}>${doubts.length > 0 ? "Send anyway" : "Call"} <kbd aria-hidden="true">Ctrl+Enter</kbd></button>
        ${kind && html`<button type="button" data-task-button disabled=${edited.problem !== null} title="Ctrl+Shift+Enter" aria-keyshortcuts="Control+Shift+Enter" onClick=${() => void send(true)}>Start as a task</button>`}
        <${Button} label="Reset" onClick=${() => change({ value: field.kind === "object" ? first(field) : {}, text: draft.text === null ? null : text(first(field) ?? {}) })} />
        ${target?.state !== "open" && html`<span class="dim">No server is connected.</span>`}
      </div>
      <${QuestionsInline} state=${state} />
      ${row > 0 && appOf(tool) && html`<${AppLine} tool=${tool} row=${row} state=${state} open=${app} turn=${() => setApp(!app)} />`}
      ${row > 0 && html`<${Outcome} n=${row} tool=${tool} />`}
    </div>`;
}

/** @param {{ tool: any, row: number, state: import("../state.js").State, open: boolean, turn: () => void }} props */
function AppLine({ tool, row, state, open, turn }) {
  const leave = useRef(async () => {});
  const close = async () => {
    await leave.current();
    turn();
  };
  if (!state.server?.shows_apps) return html`<p class="note">The tool has an app, and this page was started without apps.</p>`;
  return html`
    <div class="actions"><button type="button" data-app aria-expanded=${String(open)} aria-keyshortcuts="Shift+A" onClick=${open ? close : turn}>${open ? "Close app" : "Open app"} <kbd aria-hidden="true">A</kbd></button></div>
    ${open && html`<${AppFrame} key=${row} tool=${tool} row=${row} state=${state} leave=${leave} />`}`;
}

/** @param {{ draft: any, problem: string | null, problems: { path: string, message: string }[], onChange: (draft: any) => void }} props */
function Twin({ draft, problem, problems: found, onChange }) {
  const input = (/** @type {any} */ event) => {
    const typed = event.target.value;
    const next = tryParse(typed);
    onChange({ value: next.problem === null ? parse(typed) : draft.value, text: typed });
  };
  return html`
    <textarea class="mono twin" rows="12" aria-label="Arguments as JSON" spellcheck=${false} aria-invalid=${String(problem !== null)} value=${draft.text} onInput=${input}></textarea>
    ${problem ? html`<p class="bad">${problem}</p>` : found.map(({ path, message }) => html`<p class="bad" key=${path + message}><span class="mono">${visible(path, 200)}</span> ${visible(message, 300)}</p>`)}`;
}

/**
 * What should be known before a call is sent.
 * @param {any} tool
 * @param {string} name
 * @param {any} given
 */
async function doubtsOf(tool, name, given) {
  const doubts = [];
  if (tool.annotations?.destructiveHint === true && tool.annotations?.readOnlyHint !== true) doubts.push("The server says that this tool may destroy something.");
  try {
    const { errors } = await check(name, given);
    for (const error of errors) doubts.push(`${error.pointer || "the arguments"} ${error.what}`);
  } catch {
    // The tool is not in a list that the program knows: the server will judge.
  }
  return doubts.slice(0, 20);
}

const HINTS = /** @type {[string, string, string][]} */ ([
  ["readOnlyHint", "read-only", "ok"], ["destructiveHint", "destructive", "f"], ["idempotentHint", "idempotent", ""], ["openWorldHint", "open world", ""],
]);

/** @param {{ tool: any }} props */
function ToolHead({ tool }) {
  const hints = isObject(tool.annotations) ? tool.annotations : {};
  const badges = HINTS.filter(([hint]) => hints[hint] === true);
  return html`
    <header class="detail-head">
      <div class="title-line">
        <h2><bdi>${named(nameOf(tool), 300)}</bdi></h2>
        ${badges.map(([hint, label, tone]) => html`<span key=${hint} class=${`badge ${tone}`}>${label}</span>`)}
        ${appOf(tool) && html`<span class="badge">app</span>`}${!isVisibleTo(tool, "model") && html`<span class="badge">hidden from models</span>`}
        <button type="button" class="quiet close" aria-label="Close the details" onClick=${() => store.dispatch({ type: "item", item: "" })}>×</button>
      </div>
      ${tool.title && html`<p class="dim"><bdi>${visible(tool.title, 300)}</bdi></p>`}
      ${tool.description && html`<p class="says"><bdi>${visibleLines(tool.description, 20_000)}</bdi></p>`}
      <details class="schemas"><summary>Definition</summary><${Tree} value=${tool} label="Definition" open=${3} /></details>
    </header>`;
}

/** @param {{ n: number, tool: any }} props */
function Outcome({ n, tool }) {
  const { at, detail, problem, result, error, asks } = useLastRound(n);
  if (problem) return html`<${ProblemNote} problem=${problem} />`;
  if (!detail) return html`<p class="note">Sending…</p>`;
  const status = String(detail.row[COLUMN.status]);
  const failed = status !== "ok" && status !== "pending";
  return html`
    <section class=${`outcome ${failed ? "f" : asks ? "pending" : status}`} aria-label="Result" aria-live="polite">
      <header class="title-line">
        <h3>${error ? "Error" : result?.isError === true ? "Error of the tool" : asks ? "Waiting for your answer" : status === "pending" ? "Waiting" : "Result"}</h3>
        <span class="status-word" data-status=${status}>${visible(status, 20)}</span>
        <span class="dim">${detail.row[COLUMN.took] === null ? "" : duration(Number(detail.row[COLUMN.took]) / 1000)}</span>
        <${RowLink} n=${n} />${at !== n && html`<${RowLink} n=${at} />`}
        ${status === "pending" && html`<${Button} label="Cancel" kind="strong" onClick=${() => void cancel(at)} />`}
      </header>
      <${Progress} detail=${detail} pending=${status === "pending"} />
      ${error && html`<${Tree} value=${error} label="Error" />`}
      ${taskOf(result) && html`<${TaskLink} id=${taskOf(result)} row=${at} />`}
      ${result !== undefined && !asks && html`<${Result} result=${result} tool=${tool} />`}
      ${result === undefined && !error && status !== "pending" && html`<${Unanswered} detail=${detail} status=${status} />`}
    </section>`;
}

const OURS = "cancelled on the page";

/** Why a call has no answer. @param {{ detail: import("../contract.js").RowDetail, status: string }} props */
function Unanswered({ detail, status }) {
  const note = detail.parts.find(({ role, text: body }) => role === "notification" && (body ?? "").includes("notifications/cancelled"));
  const { value } = tryParse(note?.text ?? "{}");
  const reason = value?.params?.reason;
  if (status === "cancelled" && reason === OURS) return html`<p class="note">Stopped on this page.</p>`;
  if (status === "cancelled" || status === "hung") {
    return html`<p class="bad">${reason ? html`Given up: <bdi>${visible(reason, 300)}</bdi>. ` : "No answer and no progress within the timeout, or the connection ended. "}
      Give the server more time with --timeout S, or let it report progress: each note of progress gives it the whole time again.</p>`;
  }
  return html`<p class="note">No answer that can be shown here: see the row.</p>`;
}

/** How long a call may be silent before the page says so, in ms. */
const SILENT = 1000;

/** Says that a call that takes long reports nothing. */
function Silence() {
  const [silent, setSilent] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSilent(true), SILENT);
    return () => clearTimeout(timer);
  }, []);
  return silent ? html`<p class="note">No progress so far. The request asks for it (progressToken in its _meta); a server may send none.</p>` : null;
}

/** @param {{ detail: import("../contract.js").RowDetail, pending: boolean }} props */
function Progress({ detail, pending }) {
  const notes = detail.parts.filter(({ role, text: body }) => role === "notification" && (body ?? "").includes("notifications/progress"));
  const newest = notes.at(-1);
  if (!newest) return pending ? html`<${Silence} />` : null;
  const { value } = tryParse(newest.text ?? "");
  const { progress, total, message } = value?.params ?? {};
  const share = typeof progress === "number" && typeof total === "number" && total > 0 ? Math.min(1, progress / total) : null;
  return html`<div class="progress">
    ${share !== null ? html`<progress max="1" value=${share} aria-label="Progress"></progress>` : pending && html`<progress aria-label="Progress"></progress>`}
    <span>${visible(progress, 40)}${total !== undefined && ` of ${visible(total, 40)}`}</span> <bdi>${visible(message, 300)}</bdi>
    <span class="dim">${notes.length} notes</span>
  </div>`;
}

/** @param {{ result: any, tool: any }} props */
function Result({ result, tool }) {
  if (!isObject(result)) return html`<${Tree} value=${result} label="Result" />`;
  const structured = result.structuredContent;
  const plain = result.content !== undefined || structured !== undefined;
  return html`
    ${result.content !== undefined && html`<${Blocks} blocks=${result.content} />`}
    ${structured !== undefined && html`<h4>Structured content</h4><${Tree} value=${structured} label="Structured content" />`}
    ${tool.outputSchema !== undefined && structured === undefined && result.isError !== true && html`<p class="bad">The tool has an output schema, but the result has no structured content.</p>`}
    ${!plain && html`<${Tree} value=${result} label="Result" />`}
    ${result._meta !== undefined && html`<details><summary>_meta</summary><${Tree} value=${result._meta} label="_meta" /></details>`}`;
}


// Tasks: those that the traffic shows, of both kinds; polled while they work, their results, their end. The extension of the modern era
// has no list, so what was not seen here is not known.

import { html, useEffect, useMemo, useState } from "../html.js";
import { ItemList } from "../parts/items.js";
import { Blocks, Tree } from "../parts/content.js";
import { Button, ProblemNote, RowLink, useAnswer, useRow } from "../parts/pane.js";
import { QuestionsInline } from "./questions.js";
import { attempt, problemOf, request, say, store } from "../actions.js";
import { get, post } from "../api.js";
import { COLUMN } from "../rows.js";
import { duration, named, visible } from "../format.js";
import { targetOf } from "../state.js";

export const EXTENSION = "io.modelcontextprotocol/tasks";
const OVER = ["completed", "failed", "cancelled"];
const TONES = /** @type {Record<string, string>} */ ({ completed: "ok", failed: "f", cancelled: "w", input_required: "w" });
/** How often tasks are polled at most, how often where the server names no interval, and how many at a time. */
const SHORTEST = 250;
const USUAL = 1000;
const AT_A_TIME = 8;
const KEPT = 900_000;

/** @typedef {import("../contract.js").Task} Task */
/** @typedef {import("../contract.js").Target} Target */

/**
 * How a call of a tool can become a task here: the client asks for one (2025-11-25), the server may make one (the extension), or neither.
 * @param {Target | null} target
 * @param {any} tool
 * @returns {"client" | "server" | ""}
 */
export function taskKind(target, tool) {
  if (!target || target.state !== "open") return "";
  if (target.era === "modern") return target.capabilities?.extensions?.[EXTENSION] ? "server" : "";
  const takes = target.revision === "2025-11-25" && target.capabilities?.tasks?.requests?.tools?.call;
  return takes && ["optional", "required"].includes(tool?.execution?.taskSupport) ? "client" : "";
}

/** The members that make a task of a call. @param {"client" | "server" | ""} kind */
export const taskParams = (kind) => (kind === "client" ? { task: { ttl: KEPT } } : {});

/** The id of the task that a result of a call is. @param {any} result @returns {string} */
export function taskOf(result) {
  const id = result?.resultType === "task" ? result.taskId : result?.task?.taskId;
  return typeof id === "string" ? id : "";
}

/** @param {{ id: string, row: number }} props */
export function TaskLink({ id, row }) {
  const show = async () => {
    const found = await attempt(() => get("/api/tasks", { target: targetOf(store.state)?.target ?? 1 }));
    const task = found?.tasks.find((/** @type {Task} */ one) => one.task === id && one.row === row);
    if (task) store.dispatch({ type: "go", view: "tasks", item: itemId(task) });
    else if (found) say("the task is not known any more – see the row", true);
  };
  return html`<p class="line">The call goes on as a task. <${Button} label="Show the task" kind="strong" onClick=${() => void show()} /></p>`;
}

/** @param {Task} task */
const itemId = (task) => `${task.session}:${task.asked}:${task.task}`;

/** @param {Task} task */
const isOver = (task) => OVER.includes(task.status);

/**
 * @param {{ state: import("../state.js").State, list: any }} props
 */
export function TasksView({ state, list }) {
  const target = targetOf(state);
  const { tasks, problem } = useTasks(target, state.server?.tasks ?? 0);
  const [polls, setPolls] = useState(true);
  usePolling(target, tasks, polls);
  const items = useMemo(() => tasks.map(itemOf), [tasks]);
  const chosen = tasks.find((task) => itemId(task) === state.place.item) ?? null;
  return html`
    <div class=${`split ${chosen ? "with-detail" : ""}`}>
      <section class="side-list" aria-label="Tasks">
        <${ItemList} label="Tasks" items=${items} selected=${chosen ? itemId(chosen) : ""} list=${list}
          empty="No task crossed yet. Start one from a tool's form: “Start as a task”." onSelect=${(/** @type {string} */ item) => store.dispatch({ type: "item", item })} />
        <${ProblemNote} problem=${problem} />
        <div class="foot line">
          <${Lister} target=${target} />
          <${Button} label="Polling" kind="small" pressed=${polls} title="Ask for the status of tasks that work, at the interval that the server names" onClick=${() => setPolls(!polls)} />
        </div>
      </section>
      <section class="detail" aria-label="Task">
        ${chosen ? html`<${Shown} key=${itemId(chosen)} task=${chosen} state=${state} polls=${polls} />` : html`<div class="nothing">Select a task to follow it.</div>`}
      </section>
    </div>`;
}

/** @param {Task} task */
function itemOf(task) {
  const note = [task.message, task.asked === "in" ? "asked by the server" : "", task.task].filter(Boolean).join(" – ");
  return { id: itemId(task), name: task.name || task.method || task.task, note, badge: visible(task.status, 20), tone: TONES[task.status] ?? "", text: task.task };
}

/** @param {Target | null} target @param {number} changes */
function useTasks(target, changes) {
  const [found, setFound] = useState(/** @type {{ target: number, tasks: Task[], problem: any }} */ ({ target: 0, tasks: [], problem: null }));
  const number = target?.target ?? 0;
  useEffect(() => {
    if (!number) return;
    let stopped = false;
    get("/api/tasks", { target: number }).then(
      ({ tasks }) => { if (!stopped) setFound({ target: number, tasks, problem: null }); },
      (error) => { if (!stopped) setFound({ target: number, tasks: [], problem: problemOf(error) }); },
    );
    return () => { stopped = true; };
  }, [number, changes]);
  return found.target === number ? found : { tasks: [], problem: null };
}

/**
 * Polls the tasks that work. Those of the modern era are followed by the client that began them.
 * @param {Target | null} target
 * @param {Task[]} tasks
 * @param {boolean} polls
 */
function usePolling(target, tasks, polls) {
  const working = polls && target?.state === "open" && target.era === "legacy"
    ? tasks.filter((task) => task.asked === "out" && task.session === target.session && !isOver(task)).slice(0, AT_A_TIME) : [];
  const wait = Math.max(SHORTEST, Math.min(...working.map((task) => task.poll ?? USUAL)));
  const which = working.length === 0 ? "" : JSON.stringify(working.map(({ task }) => task));
  useEffect(() => {
    if (!which || !target) return;
    let timer = 0;
    let stopped = false;
    const turn = async () => {
      await Promise.all(JSON.parse(which).map((/** @type {string} */ taskId) => post("/api/request", { target: target.target, method: "tasks/get", params: { taskId } }).catch(() => null)));
      if (!stopped) timer = window.setTimeout(() => void turn(), wait);
    };
    timer = window.setTimeout(() => void turn(), wait);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [which, wait, target?.target]);
}

/** @param {{ target: Target | null }} props */
function Lister({ target }) {
  const [busy, setBusy] = useState(false);
  const offered = target?.state === "open" && target.era === "legacy" && Boolean(target.capabilities?.tasks?.list);
  if (target?.era === "modern") return html`<span class="note">The extension has no list: tasks that crossed are shown.</span>`;
  const ask = async () => {
    setBusy(true);
    const listed = await attempt(() => post("/api/list", { target: target?.target, what: "tasks" }));
    setBusy(false);
    if (listed) say(listed.items.length === 1 ? "The server keeps 1 task" : `The server keeps ${listed.items.length} tasks`);
  };
  return html`<button type="button" class="small" data-list disabled=${!offered || busy} title=${offered ? "Ask for the list (l)" : "The server does not offer its list"} onClick=${() => void ask()}>List</button>`;
}

/** @param {{ task: Task, state: import("../state.js").State, polls: boolean }} props */
function Shown({ task, state, polls }) {
  const target = targetOf(state);
  const open = target?.state === "open" && task.asked === "out" && (target.era === "modern" || task.session === target.session);
  const ask = (/** @type {string} */ method) => void request(method, { taskId: task.task });
  const followed = !isOver(task) && (target?.era === "modern" ? "The client that began the call polls it." : polls ? `Polled every ${duration(Math.max(SHORTEST, task.poll ?? USUAL))}.` : "Not polled.");
  return html`
    <header class="detail-head">
      <div class="title-line"><h2><bdi>${named(task.name || task.method || task.task, 300)}</bdi></h2>
        <span class="status-word" data-status=${statusOf(task)}>${visible(task.status, 40)}</span>
        <button type="button" class="quiet close" aria-label="Close the details" onClick=${() => store.dispatch({ type: "item", item: "" })}>×</button></div>
      ${task.message && html`<p class="says"><bdi>${visible(task.message, 2000)}</bdi></p>`}
      <p class="facts">${task.row > 0 && html`<span>called in <${RowLink} n=${task.row} /></span>`}<span>seen last in <${RowLink} n=${task.seen} /></span>${open && followed && html`<span>${followed}</span>`}</p>
    </header>
    <${Facts} task=${task} />
    <div class="actions">
      <button type="button" data-poll disabled=${!open} onClick=${() => ask("tasks/get")}>Poll <kbd aria-hidden="true">p</kbd></button>
      <button type="button" class="strong" data-result disabled=${!open} onClick=${() => ask(target?.era === "modern" ? "tasks/get" : "tasks/result")}>Result <kbd aria-hidden="true">o</kbd></button>
      <button type="button" data-cancel disabled=${!open || isOver(task)} onClick=${() => ask("tasks/cancel")}>Cancel <kbd aria-hidden="true">x</kbd></button>
      ${!open && html`<span class="dim">${task.asked === "in" ? "The client runs it." : "Its connection is over."}</span>`}
    </div>
    <${QuestionsInline} state=${state} />
    ${task.result > 0 && html`<${Outcome} n=${task.result} />`}`;
}

/** @param {Task} task */
const statusOf = (task) => (({ completed: "ok", failed: "error", cancelled: "cancelled" })[task.status] ?? "pending");

/** @param {{ task: Task }} props */
function Facts({ task }) {
  const facts = [
    ["Id", task.task], ["Method", task.method], ["Asked by", task.asked === "in" ? "the server" : "this client"], ["Created", task.created], ["Updated", task.updated],
    ["Kept for", task.ttl === null ? null : duration(task.ttl)], ["Poll every", task.poll === null ? null : duration(task.poll)],
  ];
  return html`<dl class="facts-list">${facts.filter(([, value]) => value).map(([name, value]) => html`
    <div key=${name}><dt>${name}</dt><dd class=${name === "Id" ? "mono" : ""}><bdi>${visible(value, 600)}</bdi></dd></div>`)}</dl>`;
}

/** @param {{ n: number }} props */
function Outcome({ n }) {
  const { detail, problem } = useRow(n);
  const answer = useAnswer(detail);
  if (!detail) return html`<${ProblemNote} problem=${problem} />`;
  // The extension carries the outcome in the task; 2025-11-25 answers the call itself.
  const inner = detail.row[COLUMN.method] === "tasks/get" ? answer.result : answer;
  const { result, error } = inner ?? {};
  return html`
    <section class=${`outcome ${error || result?.isError ? "f" : ""}`} aria-label="Result of the task">
      <header class="title-line"><h3>Result</h3><${RowLink} n=${n} /></header>
      ${error && html`<${Tree} value=${error} label="Error" />`}
      ${result?.content !== undefined && html`<${Blocks} blocks=${result.content} />`}
      ${result?.structuredContent !== undefined && html`<h4>Structured content</h4><${Tree} value=${result.structuredContent} label="Structured content" />`}
      ${result !== undefined && result?.content === undefined && html`<${Tree} value=${result} label="Result" />`}
    </section>`;
}

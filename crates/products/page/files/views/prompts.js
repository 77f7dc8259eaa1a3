// Prompts: their arguments with the server's completions, and the messages that come back.

import { html, useEffect, useMemo } from "../html.js";
import { ItemList } from "../parts/items.js";
import { Form } from "../parts/form.js";
import { Messages, Tree } from "../parts/content.js";
import { Button, ProblemNote, RowLink, useAnswer, useRow } from "../parts/pane.js";
import { describe, first, problems } from "../parts/form-model.js";
import { completion } from "./resources.js";
import { load, request, store } from "../actions.js";
import { COLUMN } from "../rows.js";
import { duration, named, visible, visibleLines } from "../format.js";
import { targetOf } from "../state.js";

/**
 * @param {{ state: import("../state.js").State, list: any }} props
 */
export function PromptsView({ state, list }) {
  const target = targetOf(state);
  const known = state.lists[`${target?.target}/prompts`];
  useEffect(() => { void load("prompts"); }, [target?.session, target?.state]);
  const prompts = known?.items ?? [];
  const items = useMemo(() => prompts.map(itemOf), [prompts]);
  const at = items.findIndex(({ id }) => id === state.place.item);
  const empty = target?.state !== "open" ? "No server is connected." : known?.loading ? "Reading the list…" : "The server offers no prompts.";
  return html`
    <div class=${`split ${at >= 0 ? "with-detail" : ""}`}>
      <section class="side-list" aria-label="Prompts">
        <${ItemList} label="Prompts" items=${items} selected=${state.place.item} empty=${empty} list=${list}
          onSelect=${(/** @type {string} */ item) => store.dispatch({ type: "item", item })} />
        <${ProblemNote} problem=${known?.error} />
        <div class="foot"><${Button} label="Refresh" kind="small" onClick=${() => void load("prompts", true)} /></div>
      </section>
      <section class="detail" aria-label="Prompt">
        ${at >= 0 ? html`<${Prompt} key=${items[at].id} prompt=${prompts[at]} state=${state} />` : html`<div class="nothing">Select a prompt to get it.</div>`}
      </section>
    </div>`;
}

/** @param {any} prompt @param {number} at */
function itemOf(prompt, at) {
  const words = (/** @type {any} */ value) => (typeof value === "string" ? value : "");
  return { id: `${at + 1}:`, name: words(prompt?.name), note: words(prompt?.title) || words(prompt?.description).slice(0, 200), text: words(prompt?.description) };
}

/** @param {any} prompt A prompt's arguments are all texts. */
function fieldOf(prompt) {
  const list = Array.isArray(prompt?.arguments) ? prompt.arguments.filter((/** @type {any} */ one) => typeof one?.name === "string") : [];
  const members = list.map((/** @type {any} */ one) => [one.name, { type: "string", title: one.title, description: one.description }]);
  const required = list.filter((/** @type {any} */ one) => one.required === true).map((/** @type {any} */ one) => one.name);
  return describe({ type: "object", properties: Object.fromEntries(members), required });
}

/** @param {{ prompt: any, state: import("../state.js").State }} props */
function Prompt({ prompt, state }) {
  const target = targetOf(state);
  const name = typeof prompt?.name === "string" ? prompt.name : "";
  const key = `${target?.target}/prompts/${name}`;
  const field = useMemo(() => fieldOf(prompt), [prompt]);
  const value = state.drafts[key]?.value ?? first(field);
  const row = state.sent[key] ?? 0;
  const change = (/** @type {any} */ next) => store.dispatch({ type: "draft", key, draft: { value: next, text: null } });
  const complete = (/** @type {any} */ path, /** @type {string} */ typed) => completion({ type: "ref/prompt", name }, String(path[0]), typed, value, target);
  return html`
    <div class="call" data-call>
      <header class="detail-head">
        <div class="title-line"><h2><bdi>${named(name, 300)}</bdi></h2>
          <button type="button" class="quiet close" aria-label="Close the details" onClick=${() => store.dispatch({ type: "item", item: "" })}>×</button></div>
        ${prompt?.title && html`<p class="dim"><bdi>${visible(prompt.title, 300)}</bdi></p>`}
        ${prompt?.description && html`<p class="says"><bdi>${visibleLines(prompt.description, 10_000)}</bdi></p>`}
        <details class="schemas"><summary>Definition</summary><${Tree} value=${prompt} label="Definition" /></details>
      </header>
      <${Form} id=${`prompt-${name}`} field=${field} value=${value} problems=${problems(field, value)} onChange=${change} complete=${complete} />
      <div class="actions">
        <button type="button" class="strong" data-send-button disabled=${target?.state !== "open"} onClick=${() => void request("prompts/get", { name, arguments: value }, { key })}>Get <kbd aria-hidden="true">Ctrl+Enter</kbd></button>
      </div>
      ${row > 0 && html`<${Got} n=${row} />`}
    </div>`;
}

/** @param {{ n: number }} props */
function Got({ n }) {
  const { detail, problem } = useRow(n);
  const { result, error } = useAnswer(detail);
  if (problem) return html`<${ProblemNote} problem=${problem} />`;
  if (!detail) return html`<p class="note">Asking…</p>`;
  const status = String(detail.row[COLUMN.status]);
  return html`
    <section class=${`outcome ${status !== "ok" && status !== "pending" ? "f" : status}`} aria-label="Messages" aria-live="polite">
      <header class="title-line"><h3>${error ? "Error" : "Messages"}</h3><span class="status-word" data-status=${status}>${visible(status, 20)}</span>
        <span class="dim">${detail.row[COLUMN.took] === null ? "" : duration(Number(detail.row[COLUMN.took]) / 1000)}</span><${RowLink} n=${n} /></header>
      ${error && html`<${Tree} value=${error} label="Error" />`}
      ${result?.description && html`<p class="says"><bdi>${visibleLines(result.description, 5000)}</bdi></p>`}
      ${result !== undefined && html`<${Messages} messages=${result?.messages} />`}
    </section>`;
}

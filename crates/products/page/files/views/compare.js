// Two servers, two revisions of one, or two connections beside each other: what they offer, and what they answer to the same call.

import { html, useEffect, useMemo, useState } from "../html.js";
import { Beside, equals } from "../parts/beside.js";
import { Form } from "../parts/form.js";
import { Button, ProblemNote, RowLink, useLastRound } from "../parts/pane.js";
import { QuestionsInline } from "./questions.js";
import { describe, first, isObject, problems } from "../parts/form-model.js";
import { problemOf, request, say, store } from "../actions.js";
import { LISTS, changeWords, changesOf, connects, described, isLive, listAll, sessionAt, sidesOf, sidesText, surfaceOf, targetAt, toBoth } from "../sides.js";
import { COLUMN } from "../rows.js";
import { count, duration, named, visible } from "../format.js";
import { parse, text, tryParse } from "../json.js";
import { targetOf } from "../state.js";

/** @typedef {import("../sides.js").Side} Side */
/** @typedef {import("../state.js").State} State */

/** @param {[Side, Side]} sides */
const show = (sides) => store.dispatch({ type: "go", view: "compare", item: sidesText(sides) });

/** Shows how the newest connection differs from the one before. */
export function showChanges() {
  const target = targetOf(store.state);
  const sides = target && connects(store.state, target.target);
  if (!sides) return say("there is only one connection – reconnect in the view Server first", true);
  show(sides);
}

export function swapSides() {
  const sides = sidesOf(store.state);
  if (sides) show([sides[1], sides[0]]);
}

/** @param {{ state: State }} props */
export function CompareView({ state }) {
  const sides = sidesOf(state);
  const targets = state.server?.targets ?? [];
  if (!sides) {
    return html`<div class="nothing"><p>There is one server with one connection: nothing to compare yet.</p>
      <p>Reconnect in the view <button type="button" class="link" onClick=${() => store.dispatch({ type: "go", view: "server" })}>Server</button>, also at another revision, or start with two: <code>proof inspect --beside URL URL</code>, <code>proof inspect --beside-revision 2026-07-28 -- COMMAND</code>.</p></div>`;
  }
  const names = /** @type {[string, string]} */ (sides.map((side) => nameOf(state, side)));
  return html`
    <section class="sheet" aria-label="Compare">
      <div class="sides">
        ${sides.map((side, at) => html`<${Picker} key=${at} state=${state} side=${side} label=${at === 0 ? "Left" : "Right"}
          pick=${(/** @type {Side} */ picked) => show(at === 0 ? [picked, sides[1]] : [sides[0], picked])} />`)}
      </div>
      <p class="actions"><${Button} label="Swap" keys="s" kind="small" onClick=${swapSides} />
        ${targets.length === 1 && html`<span class="note">The connections of one server.</span>`}</p>
      <${Both} key=${sides.map(({ target }) => target).join(" ")} state=${state} sides=${sides} names=${names} />
    </section>`;
}

/** @param {State} state @param {Side} side */
function nameOf(state, side) {
  const target = targetAt(state, side);
  const session = sessionAt(state, side);
  const now = target?.session === session && target.revision ? ` at ${target.revision}` : "";
  return `${target?.server?.name ?? target?.label ?? "?"}${now}, session ${session || "none"}`;
}

/** @param {{ state: State, side: Side, label: string, pick: (side: Side) => void }} props */
function Picker({ state, side, label, pick }) {
  const targets = state.server?.targets ?? [];
  const options = targets.flatMap((target) => {
    const own = (state.server?.sessions ?? []).filter((one) => one.target === target.target && one.session !== target.session && !one.app).slice(-50).reverse();
    const shown = `${target.target}: ${visible(target.label, 200)}`;
    return [{ value: `${target.target}.0`, words: `${shown} – ${visible(target.revision ?? target.state, 20)}` }, ...own.map((one) => ({ value: `${target.target}.${one.session}`, words: `${shown} – session ${one.session}` }))];
  });
  const target = targetAt(state, side);
  const status = isLive(state, side) ? "open" : side.session ? "over" : visible(target?.state, 20);
  return html`<div class="side">
    <label class="field" for=${`side-${label}`}>${label} <span class="status-word" data-status=${status === "open" ? "ok" : ""}>${status}</span></label>
    <select id=${`side-${label}`} value=${`${side.target}.${side.session === target?.session ? 0 : side.session}`} onChange=${(/** @type {any} */ event) => {
      const [number, session] = event.target.value.split(".").map(Number);
      pick({ target: number, session });
    }}>${options.map(({ value, words }) => html`<option key=${value} value=${value}>${words}</option>`)}</select></div>`;
}

/** @param {{ state: State, sides: [Side, Side], names: [string, string] }} props */
function Both({ state, sides, names }) {
  const [round, setRound] = useState(0);
  const { surfaces, problem, busy } = useSurfaces(state, sides, round);
  const live = sides.every((side) => isLive(state, side));
  return html`
    ${live && surfaces && html`<${Call} state=${state} sides=${sides} names=${names} surfaces=${surfaces} />`}
    <div class="heading"><h2 class="part-head">What they offer</h2>
      <button type="button" class="small" data-again disabled=${busy} onClick=${() => setRound(round + 1)}>Read again <kbd aria-hidden="true">u</kbd></button></div>
    <${ProblemNote} problem=${problem} />
    ${surfaces ? html`<${Offers} surfaces=${surfaces} names=${names} />` : html`<p class="note" role="status">Reading what both offer…</p>`}`;
}

/** @param {State} state @param {[Side, Side]} sides @param {number} round */
function useSurfaces(state, sides, round) {
  const [found, setFound] = useState(/** @type {{ key: string, surfaces: import("../sides.js").Surface[] | null, problem: any, busy: boolean }} */ ({ key: "", surfaces: null, problem: null, busy: true }));
  const key = sides.map((side) => `${side.target}.${sessionAt(state, side)}.${targetAt(state, side)?.state}`).join("~");
  useEffect(() => {
    let stopped = false;
    const read = async () => {
      setFound((before) => ({ ...before, busy: true }));
      try {
        await Promise.all(sides.map((side) => listAll(state, side, round > 0)));
        const surfaces = await Promise.all(sides.map((side) => surfaceOf(sessionAt(state, side))));
        if (!stopped) setFound({ key, surfaces, problem: null, busy: false });
      } catch (error) {
        if (!stopped) setFound({ key, surfaces: null, problem: problemOf(error), busy: false });
      }
    };
    void read();
    return () => { stopped = true; };
  }, [key, round]);
  return found.key === key ? found : { surfaces: null, problem: null, busy: true };
}

const TITLES = /** @type {Record<string, string>} */ ({ tools: "Tools", prompts: "Prompts", resources: "Resources", templates: "Resource templates" });

/** @param {{ surfaces: any[], names: [string, string] }} props */
function Offers({ surfaces, names }) {
  const [left, right] = surfaces;
  const [a, b] = [described(left.greeting), described(right.greeting)];
  const same = a !== undefined && equals(a, b);
  return html`
    <div class="offers">
      ${same && html`<p class="note offer-line"><b>Server and capabilities</b> equal.</p>`}
      ${!same && html`<details open><summary>Server and capabilities</summary>
        ${a !== undefined && b !== undefined
          ? html`<${Beside} left=${a} right=${b} label="Server and capabilities" names=${names} />`
          : html`<p class="note">Not known on ${a !== undefined ? "the right" : b !== undefined ? "the left" : "either side"}.</p>`}</details>`}
      ${Object.entries(LISTS).map(([what, { id }]) => html`<${Changes} key=${what} title=${TITLES[what]} changes=${changesOf(left[what], right[what], id)} left=${left[what]} names=${names} />`)}
    </div>`;
}

/** @param {{ title: string, changes: import("../sides.js").Change[] | null, left: any[] | null, names: [string, string] }} props */
function Changes({ title, changes, left, names }) {
  if (changes === null) return html`<p class="note offer-line"><b>${title}</b> not listed on ${left === null ? "the left" : "the right"}.</p>`;
  const differing = changes.filter(({ change }) => change !== "same");
  if (differing.length === 0) return html`<p class="note offer-line"><b>${title}</b> ${changes.length === 0 ? "none" : changes.length === 1 ? "1, equal" : `${count(changes.length, "item")}, all equal`}.</p>`;
  const signs = /** @type {Record<string, string>} */ ({ left: "−", right: "+", changed: "≠" });
  const words = /** @type {Record<string, string>} */ ({ left: "only on the left", right: "only on the right", changed: "changed" });
  return html`<details open><summary>${title}: ${changeWords(changes)}, ${changes.length - differing.length} equal</summary>
    ${differing.slice(0, 200).map(({ name, change, left: before, right: after }) => html`<details class="offered" key=${name}>
      <summary><span class="offer-sign" data-change=${change} aria-hidden="true">${signs[change]}</span> <bdi class="mono">${named(name, 200)}</bdi> <span class="dim">${words[change]}</span></summary>
      <${Beside} left=${before} right=${after} label=${`${title}: ${visible(name, 100)}`} names=${names} /></details>`)}
    ${differing.length > 200 && html`<p class="note">${differing.length - 200} more.</p>`}</details>`;
}

/** @param {{ state: State, sides: [Side, Side], names: [string, string], surfaces: any[] }} props */
function Call({ state, sides, names, surfaces }) {
  const tools = useMemo(() => bothTools(surfaces), [surfaces]);
  const [at, setAt] = useState(0);
  const tool = tools[at] ?? tools[0];
  if (!tool) return html`<p class="note">No side lists a tool to call.</p>`;
  const key = `both/tools/${tool.name}`;
  return html`
    <h2 class="part-head">The same call to both</h2>
    <div class="call" data-call>
      <div class="line"><label for="both-tool">Tool</label><select id="both-tool" value=${String(Math.min(at, tools.length - 1))} onChange=${(/** @type {any} */ event) => setAt(Number(event.target.value))}>
        ${tools.map((one, index) => html`<option key=${index} value=${String(index)}>${named(one.name, 100)}${one.only && ` (only ${one.only})`}</option>`)}</select></div>
      <${Arguments} key=${key} id=${key} tool=${tool.definition} name=${tool.name} state=${state} sides=${sides} />
      <${QuestionsInline} state=${state} />
    </div>
    ${(state.pair.left > 0 || state.pair.right > 0) && html`<${Answers} pair=${state.pair} names=${names} />`}`;
}

/** The tools of both sides by name; a form follows the left definition. @param {any[]} surfaces */
function bothTools([left, right]) {
  const changes = changesOf(left.tools ?? [], right.tools ?? [], "name") ?? [];
  return changes.map(({ name, change, left: before, right: after }) => ({ name, definition: before ?? after, only: change === "left" ? "on the left" : change === "right" ? "on the right" : "" }));
}

/** @param {{ id: string, tool: any, name: string, state: State, sides: [Side, Side] }} props */
function Arguments({ id, tool, name, state, sides }) {
  const field = useMemo(() => describe(isObject(tool.inputSchema) ? tool.inputSchema : { type: "object" }), [tool]);
  const draft = state.drafts[id] ?? { value: field.kind === "object" ? first(field) : {}, text: null };
  const change = (/** @type {any} */ next) => store.dispatch({ type: "draft", key: id, draft: next });
  const edited = draft.text === null ? { problem: null } : tryParse(draft.text);
  const twin = () => change(draft.text === null ? { ...draft, text: text(draft.value) } : { ...draft, text: null });
  const send = () => toBoth(state, sides, (to) => request("tools/call", { name, arguments: draft.value }, { to }));
  const destroys = tool.annotations?.destructiveHint === true && tool.annotations?.readOnlyHint !== true;
  return html`
    <div class="tabs" role="group" aria-label="Arguments">
      <button type="button" aria-pressed=${String(draft.text === null)} disabled=${edited.problem !== null} data-twin=${draft.text !== null ? "" : undefined} onClick=${() => draft.text !== null && twin()}>Form</button>
      <button type="button" aria-pressed=${String(draft.text !== null)} data-twin=${draft.text === null ? "" : undefined} onClick=${() => draft.text === null && twin()}>JSON <kbd aria-hidden="true">Ctrl+J</kbd></button>
    </div>
    ${draft.text === null
      ? html`<${Form} id=${`both-${name}`} field=${field} value=${draft.value} problems=${problems(field, draft.value)} onChange=${(/** @type {any} */ value) => change({ value, text: null })} />`
      : html`<textarea class="mono twin" rows="4" aria-label="Arguments as JSON" spellcheck=${false} aria-invalid=${String(edited.problem !== null)} value=${draft.text}
          onInput=${(/** @type {any} */ event) => change({ value: tryParse(event.target.value).problem === null ? parse(event.target.value) : draft.value, text: event.target.value })}></textarea>
          ${edited.problem && html`<p class="bad">${edited.problem}</p>`}`}
    ${destroys && html`<p class="doubts">The server says that this tool may destroy something: it would do so twice.</p>`}
    <div class="actions"><button type="button" class="strong" data-send-button disabled=${edited.problem !== null} onClick=${() => void send()}>${destroys ? "Call both anyway" : "Call both"} <kbd aria-hidden="true">Ctrl+Enter</kbd></button></div>`;
}

/** @param {{ pair: { left: number, right: number }, names: [string, string] }} props */
function Answers({ pair, names }) {
  const [left, right] = [useLastRound(pair.left), useLastRound(pair.right)];
  const [a, b] = [left, right].map(({ result, error, asks }) => (asks || (result === undefined && error === undefined) ? undefined : error === undefined ? result : { error }));
  return html`
    <section class="answers" aria-label="Answers of both">
      <div class="sides">${[left, right].map((one, at) => html`<${Head} key=${at} round=${one} name=${names[at]} />`)}</div>
      ${a !== undefined && b !== undefined ? html`<${Beside} left=${a} right=${b} label="Answers" names=${names} />` : html`<p class="note" role="status">Waiting for ${a === undefined && b === undefined ? "both answers" : "one answer"}…</p>`}
    </section>`;
}

/** @param {{ round: any, name: string }} props */
function Head({ round, name }) {
  const status = String(round.detail?.row[COLUMN.status] ?? "pending");
  const took = round.detail?.row[COLUMN.took];
  return html`<div class="side"><p class="title-line"><b><bdi>${visible(name, 100)}</bdi></b> <span class="status-word" data-status=${status}>${visible(status, 20)}</span>
    ${typeof took === "number" && html`<span class="dim">${duration(took / 1000)}</span>`} ${round.at > 0 && html`<${RowLink} n=${round.at} />`}</p><${ProblemNote} problem=${round.problem} /></div>`;
}

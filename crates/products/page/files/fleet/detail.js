// One server: its gates, the findings of a gate, the evidence of a finding; its history, waivers and playbook.

import { html, useEffect, useRef } from "../html.js";
import { Button, ProblemNote } from "../parts/button.js";
import { count, duration, named, visible, visibleLines } from "../format.js";
import { inspect, keyOf, saveReport, store, unfold } from "./actions.js";
import { LIGHTS, age, points } from "./rows.js";
import { VIEWS } from "./state.js";

const TITLES = { gates: "Gates", history: "History", waivers: "Waivers", playbook: "Playbook" };

/** Sign of a word of a light. @param {string} word */
const signOf = (word) => Object.values(LIGHTS).find((light) => light.word === word.replace("not-run", "not run"))?.sign ?? "";

/** A light with its word. @param {{ word: string }} props */
function Light({ word }) {
  const shown = word.replace("not-run", "not run");
  return html`<span class="light" data-light=${shown}><span aria-hidden="true">${signOf(shown)}</span> ${shown}</span>`;
}

/** The day and the minute, local. @param {number | null} at seconds since 1970 */
export function moment(at) {
  if (at === null) return "never";
  const date = new Date(at * 1000);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** @param {{ state: import("./state.js").State, run: (command: string) => void }} props */
export function Detail({ state, run }) {
  const { place, server } = state;
  const waivers = server?.waivers.filter(({ holds }) => holds).length ?? 0;
  if (!server) {
    return html`<section class="detail" aria-label="Server">${state.missing ? html`<${ProblemNote} problem=${state.missing} />` : html`<p class="nothing">${place.at ? "Reading…" : "Select a server."}</p>`}</section>`;
  }
  return html`
    <section class="detail" aria-label=${`Server ${visible(server.name, 60)}`}>
      <div class="detail-head">
        <div class="title-line"><h2><bdi>${named(server.name)}</bdi></h2>
          <span class="right"></span>${!state.fleet?.run?.running && html`<${Button} label="Run" kind="small" title="Run this server (r)" onClick=${() => run("run")} />`}
          <button type="button" class="quiet" aria-label="Close" title="Close (Esc)" onClick=${() => store.dispatch({ type: "open", open: false })}>×</button></div>
        <p class="facts"><span>stage <bdi>${visible(server.stage, 40)}</bdi></span>${server.wanted && html`<span>wanted <bdi>${visible(server.wanted, 40)}</bdi></span>`}
          ${server.fallen_from && html`<span class="bad">fell from <bdi>${visible(server.fallen_from, 40)}</bdi></span>`}
          <span>owner <bdi>${visible(server.owner ?? "none", 60)}</bdi></span><span>looked at ${moment(server.seen)}</span><span>${count(server.tools, "tool")}</span></p>
        <p class="facts"><code><bdi>${visible(server.launch, 200)}</bdi></code></p>
        ${server.note && html`<p class="facts"><bdi>${visible(server.note, 300)}</bdi></p>`}
        ${server.hold && html`<p class="hold">Held at <bdi>${visible(server.hold.stage, 40)}</bdi> by <bdi>${visible(server.hold.by, 60)}</bdi>, ${moment(server.hold.at)}: <bdi>${visible(server.hold.reason, 300)}</bdi></p>`}
        <div class="tabs" role="group" aria-label="What is shown">${VIEWS.map((view, at) => html`<${Button} key=${view} label=${view === "waivers" && waivers > 0 ? `${TITLES[view]} (${waivers})` : TITLES[view]}
          pressed=${place.view === view} keys=${String(at + 1)} onClick=${() => run(`view-${view}`)} />`)}</div>
      </div>
      ${place.view === "gates" && html`<${Gates} state=${state} server=${server} />`}
      ${place.view === "history" && html`<${History} server=${server} stages=${state.fleet?.stages.length ?? 8} />`}
      ${place.view === "waivers" && html`<${Waivers} server=${server} />`}
      ${place.view === "playbook" && html`<pre class="text playbook" tabindex="0" aria-label="Playbook">${visibleLines(server.playbook)}</pre>`}
    </section>`;
}

/** @param {{ state: import("./state.js").State, server: import("./contract.js").Server }} props */
function Gates({ state, server }) {
  const running = state.rows.find(([name]) => name === server.name)?.[3] ?? "";
  return html`<ul class="gates">${server.gates.map((gate, at) => {
    const open = state.place.gate === gate.gate;
    const failing = gate.findings.filter(({ fails }) => fails).length;
    return html`<li key=${gate.gate}>
      <button type="button" class="gate" data-stop aria-expanded=${String(open)} onClick=${() => store.dispatch({ type: "gate", gate: gate.gate })}>
        <span class="twist" aria-hidden="true"></span><b>${gate.gate}</b> <${Light} word=${running[at] === "r" ? "running" : gate.light} />
        <bdi class="gate-summary">${visible(gate.summary ?? "no result on the server as it is now", 200)}</bdi></button>
      ${open && html`<div class="gate-body">
        <p class="facts">${gate.stage && html`<span>stage <bdi>${visible(gate.stage, 40)}</bdi></span>`}<span>computed ${moment(gate.at)}</span>
          ${gate.ms !== null && gate.ms > 0 && html`<span>took ${duration(gate.ms)}</span>`}${gate.score !== null && html`<span>score ${gate.score}</span>`}
          ${gate.coverage !== null && html`<span>coverage ${gate.coverage} %</span>`}</p>
        ${gate.summary && html`<p><bdi>${visible(gate.summary, 600)}</bdi></p>`}
        ${gate.light !== "pass" && html`<p class="facts">begin with <code><bdi>${visible(gate.start, 300)}</bdi></code></p>`}
        <ul class="finding-list" aria-label=${`Findings: ${failing} of ${gate.findings.length} make it red`}>${gate.findings.map((finding) => html`<${FindingItem} key=${keyOf(finding)} state=${state} gate=${gate.gate} finding=${finding} />`)}</ul>
        ${gate.more > 0 && html`<p class="note">and ${count(gate.more, "finding")} more: <code>proof fleet show <bdi>${visible(server.name, 60)}</bdi> ${gate.gate}</code></p>`}
        ${gate.gate !== "listed" && gate.at !== null && html`<p><button type="button" class="small" data-stop onClick=${() => void saveReport(gate.gate)}>Save the report</button></p>`}
      </div>`}
    </li>`;
  })}</ul>`;
}

/** @param {{ state: import("./state.js").State, gate: string, finding: import("./contract.js").Finding }} props */
function FindingItem({ state, gate, finding }) {
  const open = state.finding === keyOf(finding);
  const tone = finding.waived ? "waived" : finding.fails ? "fails" : "warns";
  return html`<li class="found" data-tone=${tone}>
    <button type="button" class="found-head" data-stop aria-expanded=${String(open)} onClick=${() => void unfold(gate, finding)}>
      <span class="twist" aria-hidden="true"></span><span class="level">${visible(finding.level, 20)}</span> <b class="mono"><bdi>${named(finding.rule, 120)}</bdi></b>
      <span class="dim">${tone === "waived" ? "waived " : tone === "fails" ? "" : "does not fail the gate "}<bdi>${visible(finding.place, 160)}</bdi></span></button>
    <p class="why"><bdi>${visible(finding.message, 600)}</bdi></p>
    ${finding.fix && html`<p class="facts">fix <code><bdi>${visible(finding.fix, 300)}</bdi></code></p>`}
    ${open && html`<${EvidenceList} state=${state} gate=${gate} />`}
  </li>`;
}

/** @param {{ state: import("./state.js").State, gate: string }} props */
function EvidenceList({ state, gate }) {
  if (state.missing) return html`<${ProblemNote} problem=${state.missing} />`;
  if (!state.evidence) return html`<p class="note">Reading…</p>`;
  if (state.evidence.length === 0) return html`<p class="note">The report has no request or response for this finding.</p>`;
  return state.evidence.map((one, at) => html`<div class="evidence" key=${at}>
    <p class="facts"><bdi>${visible(one.place, 300)}</bdi></p>
    <dl>${one.facts.map(([label, text]) => html`<div key=${label}><dt>${label}</dt><dd><pre class="text" tabindex="0" aria-label=${label}>${visibleLines(pretty(text), 20_000)}</pre></dd></div>`)}</dl>
    ${one.trace
      ? html`<button type="button" data-stop data-inspect onClick=${() => void inspect(gate, /** @type {string} */ (one.trace))}>Open the trace in the inspector <kbd aria-hidden="true">i</kbd></button>`
      : gate === "conforms" && html`<p class="note">No trace is kept: it was computed by an older version, or is larger than 4 MiB. Run the server again.</p>`}
  </div>`);
}

/** JSON with line breaks, everything else as it is. @param {string} text */
function pretty(text) {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {{ server: import("./contract.js").Server, stages: number }} props */
function History({ server, stages }) {
  const trend = [...server.moves.slice(-1).map(({ from }) => from), ...server.moves.map(({ to }) => to).reverse()];
  const gates = server.gates.map(({ gate }) => gate).filter((gate) => server.results.some((one) => one.gate === gate));
  return html`
    <h3>Stages</h3>
    ${server.moves.length === 0 ? html`<p class="note">No move yet.</p>` : html`<${Line} trend=${trend} stages=${stages} />
      <ul class="lines">${server.moves.slice(0, 20).map((move, at) => html`<li key=${at}><time>${moment(move.at)}</time> ${move.to > move.from ? "rose" : "fell"} from ${move.from} to ${move.to}</li>`)}</ul>`}
    <h3>Gates, the newest last</h3>
    <dl class="trends">${gates.map((gate) => html`<div key=${gate}><dt>${gate}</dt><dd>${server.results.filter((one) => one.gate === gate).slice(0, 30).reverse().map((one, at) => html`
      <span key=${at} class="light" data-light=${one.outcome} title=${`${moment(one.at)}: ${one.outcome}`}><span aria-hidden="true">${signOf(one.outcome)}</span><span class="unseen">${one.outcome} </span></span>`)}</dd></div>`)}</dl>
    <h3>Results, the newest first</h3>
    ${server.results.length === 0 && html`<p class="note">No result yet.</p>`}
    <ul class="lines">${server.results.slice(0, 60).map((one, at) => html`<li key=${at}><time>${moment(one.at)}</time> ${one.run !== null && html`<span class="dim">run ${one.run}</span> `}<b>${one.gate}</b> <${Light} word=${one.outcome} /> <bdi>${visible(one.summary, 200)}</bdi></li>`)}</ul>
    ${server.notes.length > 0 && html`<h3>Notes</h3><ul class="lines">${server.notes.map((note, at) => html`<li key=${at}><time>${moment(note.at)}</time> <b><bdi>${visible(note.by, 60)}</bdi></b> <bdi>${visible(note.text, 600)}</bdi></li>`)}</ul>`}`;
}

/** @param {{ trend: number[], stages: number }} props */
function Line({ trend, stages }) {
  const node = useRef(/** @type {Element | null} */ (null));
  useEffect(() => node.current?.setAttribute("points", points(trend, stages)), [trend.join(), stages]);
  return html`<p><svg class="spark large" viewBox="0 0 56 16" aria-hidden="true"><polyline ref=${node} /></svg><span class="unseen">stages ${trend.join(", ")}</span></p>`;
}

/** @param {{ server: import("./contract.js").Server }} props */
function Waivers({ server }) {
  if (server.waivers.length === 0) {
    return html`<p class="note">No waiver. To accept a red gate for a time: <code>proof fleet waive <bdi>${visible(server.name, 60)}</bdi> GATE --owner WHO --reason WHY --until DATE</code></p>`;
  }
  return html`<div class="scroll" role="region" aria-label="Waivers" tabindex="0"><table class="sessions"><thead><tr>${["", "gate", "rule", "until", "owner", "reason"].map((head) => html`<th key=${head} scope="col">${head || html`<span class="unseen">number</span>`}</th>`)}</tr></thead>
    <tbody>${server.waivers.map((one) => html`<tr key=${one.id} class=${one.holds ? "" : "dim"}><td>${one.id}</td><td>${one.gate}</td><td><bdi>${visible(one.rule ?? "all findings", 80)}</bdi></td>
      <td>${visible(one.until, 20)}${one.holds ? "" : " (ended)"}</td><td><bdi>${visible(one.owner, 60)}</bdi></td><td class="reason"><bdi>${visible(one.reason, 300)}</bdi></td></tr>`)}</tbody></table></div>
    <p class="note">End one: <code>proof fleet waive <bdi>${visible(server.name, 60)}</bdi> --end NUMBER</code></p>`;
}

/** How old the oldest result is, for the report. @param {number | null} at */
export const ageOf = (at) => age(at, Date.now());

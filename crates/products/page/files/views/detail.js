// One row in full: what can be done with it, its findings beside the messages that they are about, its parts as a tree or as text.

import { html, useMemo, useState } from "../html.js";
import { Button, ProblemNote, useRow } from "../parts/pane.js";
import { Tree } from "../parts/content.js";
import { attempt, cancel, compare, copy, explain, makeTests, requestOf, resend, store, wholePart } from "../actions.js";
import { COLUMN } from "../rows.js";
import { addTerm, wallClock } from "./traffic.js";
import { sideOf } from "../state.js";
import { duration, size, visible, visibleLines, count } from "../format.js";
import { tryParse } from "../json.js";

const TREE_LIMIT = 300_000;

/**
 * @param {{ n: number, version: string, state: import("../state.js").State, traffic: any }} props
 */
export function Detail({ n, version, state }) {
  const { detail, problem } = useRow(n, version);
  const byPart = useMemo(() => groups(detail), [detail]);
  if (!n) return html`<div class="nothing">Select a message to see what it holds: <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>?</kbd> shows all keys.</div>`;
  if (problem) return html`<${ProblemNote} problem=${problem} />`;
  if (!detail) return html`<div class="nothing">Reading row ${n}…</div>`;
  return html`
    <article class="row-detail" key=${n}>
      <${Head} detail=${detail} state=${state} />
      <${General} findings=${byPart.get(-1) ?? NONE} />
      ${detail.parts.map((part) => html`<${PartView} key=${part.part} n=${n} part=${part} raw=${state.raw} findings=${byPart.get(part.part) ?? NONE} parties=${detail.row[COLUMN.kind] === "app" ? OF_APP : PARTIES} />`)}
      ${detail.left_out ? html`<p class="note">${count(detail.left_out, "frame is", "frames are")} left out: the row is very long.</p>` : null}
    </article>`;
}

/** @type {import("../contract.js").Finding[]} */
const NONE = [];

/**
 * The findings of each part; those of no part that is shown under -1.
 * @param {import("../contract.js").RowDetail | null} detail
 * @returns {Map<number, import("../contract.js").Finding[]>}
 */
function groups(detail) {
  const found = new Map();
  for (const finding of detail?.findings ?? []) {
    const part = detail?.parts.some((one) => one.part === finding.part) ? finding.part : -1;
    found.set(part, [...(found.get(part) ?? []), finding]);
  }
  return found;
}

/**
 * @param {{ detail: import("../contract.js").RowDetail, state: import("../state.js").State }} props
 */
function Head({ detail, state }) {
  const { row } = detail;
  const n = Number(row[COLUMN.n]);
  const own = row[COLUMN.dir] === "out" && row[COLUMN.kind] === "call";
  const title = [row[COLUMN.method], row[COLUMN.name]].filter(Boolean).map((one) => visible(one, 200)).join(" · ") || visible(row[COLUMN.kind], 40);
  const side = sideOf(state, Number(row[COLUMN.target]));
  const facts = [
    `row ${n}`, side && visible(side, 200), wallClock(state.server, Number(row[COLUMN.at])), duration(row[COLUMN.took] === null ? null : Number(row[COLUMN.took]) / 1000),
    size(Number(row[COLUMN.size])), visible(row[COLUMN.rev], 40), row[COLUMN.id] === "" ? "" : `id ${visible(row[COLUMN.id], 60)}`,
  ].filter(Boolean);
  return html`
    <header class="detail-head">
      <div class="title-line">
        <h2><bdi>${title}</bdi></h2>
        <span class="status-word" data-status=${row[COLUMN.status]}>${visible(row[COLUMN.status], 20)}</span>
        <button type="button" class="quiet close" aria-label="Close the details" onClick=${() => store.dispatch({ type: "select", at: 0 })}>×</button>
      </div>
      <p class="facts">${facts.map((fact, at) => html`<bdi key=${at}>${fact}</bdi>`)}</p>
      ${detail.redacted && html`<p class="note">Secrets in it are replaced: sent again, it sends the placeholders.</p>`}
      <div class="actions">
        ${row[COLUMN.status] === "pending" && own && html`<${Button} label="Cancel" kind="strong" onClick=${() => void cancel(n)} />`}
        ${own && !side && html`<${Button} label="Resend" keys="r" onClick=${() => void resend(n)} />`}
        ${own && !side && html`<${Button} label="Edit" keys="e" onClick=${() => edit(detail)} />`}
        ${own && html`<${Button} label="Mark" keys="v" pressed=${state.marks.includes(n)} onClick=${() => store.dispatch({ type: "mark", n })} />`}
        ${own && html`<${Button} label="Test" keys="t" onClick=${() => void makeTests()} />`}
        ${state.base > 0 && state.base !== n
          ? html`<${Button} label=${`Compare with ${state.base}`} keys="=" onClick=${() => void compare(state.base, n)} />`
          : html`<${Button} label="Compare" keys="m" pressed=${state.base === n} onClick=${() => store.dispatch({ type: "base", n: state.base === n ? 0 : n })} />`}
        <${Button} label="Copy" keys="y" onClick=${() => copyRow(detail)} />
        ${row[COLUMN.method] && html`<${Button} label="Filter by method" onClick=${() => addTerm(`method:${quoted(String(row[COLUMN.method]))}`)} />`}
        ${side && html`<${Button} label="Filter by side" onClick=${() => addTerm(`target:${row[COLUMN.target]}`)} />`}
        <${Button} label="Text" pressed=${state.raw} title="Show messages as text" onClick=${() => store.dispatch({ type: "raw" })} />
      </div>
    </header>`;
}

/** @param {string} value */
const quoted = (value) => (/^[\w./-]+$/.test(value) ? value : `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`);

/** @param {import("../contract.js").RowDetail} detail */
export function edit(detail) {
  const sent = requestOf(detail);
  if (sent) store.dispatch({ type: "dialog", dialog: { kind: "edit", row: Number(detail.row[COLUMN.n]), text: sent.text, method: sent.method, params: sent.params } });
}

/** @param {import("../contract.js").RowDetail} detail */
export function copyRow(detail) {
  const messages = detail.parts.filter(({ type, text }) => text && type !== "request" && type !== "response");
  void copy(messages.map(({ text }) => text).join("\n"));
}

/** @param {{ findings: import("../contract.js").Finding[] }} props */
function General({ findings }) {
  return findings.map((finding) => html`<${FindingCard} key=${finding.rule + finding.pointer} finding=${finding} />`);
}

/** @param {{ finding: import("../contract.js").Finding, row?: boolean }} props */
export function FindingCard({ finding }) {
  const bad = finding.level === "must" || finding.level === "safety";
  return html`
    <aside class=${`finding ${bad ? "f" : "w"}`} aria-label=${`Finding ${visible(finding.rule, 80)}`}>
      <p class="finding-head"><span class="sign">${bad ? "✕" : "!"}</span> <span class="mono">${visible(finding.rule, 120)}</span> <span class="level">${visible(finding.level, 20)}</span></p>
      <p class="why"><bdi>${visibleLines(finding.why, 4000)}</bdi></p>
      ${finding.pointer && html`<p class="note">at <bdi class="mono">${visible(finding.pointer, 300)}</bdi></p>`}
      <p class="dim"><bdi>${visibleLines(finding.sentence, 2000)}</bdi></p>
      ${finding.fix && html`<p class="fix"><b>Fix</b> <bdi>${visibleLines(finding.fix, 2000)}</bdi></p>`}
      <div class="actions"><${Button} label="Explain" kind="small" onClick=${() => void explain(finding.rule)} /></div>
    </aside>`;
}

const ROLES = /** @type {Record<string, string>} */ ({
  request: "Request", response: "Response", error: "Error", notification: "Notification", batch: "Batch", invalid: "Invalid message",
});
const TYPES = /** @type {Record<string, string>} */ ({
  request: "HTTP request", response: "HTTP response", stderr: "stderr", bytes: "Bytes", opened: "Opened", closed: "Closed", exit: "Exit", mark: "Note",
  dropped: "No longer kept",
});

/** What the parties of a trace are called. @type {Record<string, string>} */
const PARTIES = {};
/** The same between an app and this page. @type {Record<string, string>} */
const OF_APP = { client: "app", server: "page" };

/**
 * @param {{ n: number, part: import("../contract.js").Part, raw: boolean, findings?: import("../contract.js").Finding[], parties?: Record<string, string> }} props
 */
export function PartView({ n, part, raw, findings = NONE, parties = PARTIES }) {
  const http = part.type === "request" || part.type === "response";
  const [open, setOpen] = useState(!http);
  const [whole, setWhole] = useState(/** @type {string | null} */ (null));
  const name = part.type === "message" ? ROLES[part.role ?? ""] ?? "Message" : TYPES[part.type] ?? part.type;
  const ways = part.from && part.to ? `${parties[part.from] ?? part.from} → ${parties[part.to] ?? part.to}` : "";
  const body = whole ?? part.text ?? "";
  return html`
    <section class="part">
      <h3>
        <button type="button" class="fold" aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>
          <span class="twist" aria-hidden="true"></span>${visible(name, 40)}
          ${part.title && html`<bdi class="mono part-title">${visible(part.title, 300)}</bdi>`}
          <span class="dim">${visible(ways, 60)}</span>
          <span class="dim right">${part.bytes ? size(part.bytes) : ""}</span>
        </button>
      </h3>
      ${findings.map((finding) => html`<${FindingCard} key=${finding.rule + finding.pointer} finding=${finding} />`)}
      ${open && html`<div class="part-body">
        ${part.headers && part.headers.length > 0 && html`<${Headers} headers=${part.headers} />`}
        ${part.base64 ? html`<p class="note">${size(part.bytes ?? 0)} that are no text, in base64:</p><pre class="text" tabindex="0">${visible(body, 20_000)}</pre>` : html`<${Body} text=${body} json=${Boolean(part.json) && (!part.cut || whole !== null)} raw=${raw} findings=${findings} label=${name} />`}
        ${part.cut && whole === null && html`<p class="note">The first ${size(body.length)} of ${size(part.bytes ?? 0)}. <button type="button" class="link" onClick=${() => void attempt(async () => setWhole(await wholePart(n, part.part)))}>Show all</button></p>`}
      </div>`}
    </section>`;
}

/** @param {{ headers: [string, string][] }} props */
function Headers({ headers }) {
  return html`<table class="headers"><caption class="unseen">${count(headers.length, "header")}</caption><tbody>${headers.map(([name, value], at) => html`
    <tr key=${at}><th scope="row"><bdi>${visible(name, 200)}</bdi></th><td><bdi>${visible(value, 4000)}</bdi></td></tr>`)}</tbody></table>`;
}

/**
 * @param {{ text: string, json: boolean, raw: boolean, findings: import("../contract.js").Finding[], label: string }} props
 */
function Body({ text, json, raw, findings, label }) {
  const parsed = useMemo(() => (json && !raw ? tryParse(text) : { problem: "text", value: undefined }), [text, json, raw]);
  const marks = useMemo(() => new Map(findings.filter(({ pointer }) => pointer).map(({ pointer, level }) => [/** @type {string} */ (pointer), level])), [findings]);
  if (text === "") return null;
  if (parsed.problem === null) return html`<${Tree} value=${parsed.value} label=${label} open=${text.length > TREE_LIMIT ? 2 : 5} marks=${marks} />`;
  return html`<pre class="text" tabindex="0" aria-label=${label}><bdi>${visibleLines(text, 500_000)}</bdi></pre>`;
}

// The way to the server, step by step: which step failed, and what fixes it.

import { html, useState } from "../html.js";
import { diagnose } from "../actions.js";
import { visible } from "../format.js";

const STATUS = { ok: "ok", failed: "error" };

/** @param {{ target: import("../contract.js").Target }} props */
export function Diagnosis({ target }) {
  const [report, setReport] = useState(/** @type {import("../contract.js").Diagnosis | null} */ (null));
  const [busy, setBusy] = useState(false);
  if (["trace", "watched", "gateway"].includes(target.kind)) return null;
  const walk = async () => {
    setBusy(true);
    setReport(await diagnose());
    setBusy(false);
  };
  return html`
    <h3>Diagnosis</h3>
    <p class="note">Walks to the server step by step, on separate connections. No tool is called.</p>
    <div class="line"><button type="button" data-examine aria-disabled=${String(busy)} onClick=${() => { if (!busy) void walk(); }}>${busy ? "Examining…" : html`Examine the connection <kbd aria-hidden="true">d</kbd>`}</button></div>
    <div role="status" class="line">${report && html`<p>${report.works ? "Every step works." : report.failed ? `Fails at ${report.failed}.` : "No answer."}</p>`}</div>
    ${report && html`<${Steps} report=${report} />`}`;
}

/** @param {{ report: import("../contract.js").Diagnosis }} props */
function Steps({ report }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Steps"><table class="sessions steps"><thead><tr><th>step</th><th>outcome</th><th>ms</th><th>what was seen</th></tr></thead>
    <tbody>${report.steps.map((step) => html`<tr key=${step.step}>
      <td>${visible(step.step, 40)}</td><td>${step.outcome === "skipped" ? "skipped" : html`<span class="status-word" data-status=${STATUS[step.outcome]}>${visible(step.outcome, 20)}</span>`}</td>
      <td>${step.outcome === "skipped" ? "" : step.ms}</td>
      <td class="seen">${step.seen.map((line, at) => html`<div key=${at}><bdi>${visible(line, 400)}</bdi></div>`)}
        ${step.fix && step.step === report.failed && html`<div class="fix"><bdi>Try: ${visible(step.fix, 400)}</bdi></div>`}</td></tr>`)}</tbody></table></div>`;
}

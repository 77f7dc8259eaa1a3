// The server: how it is connected, what it can do, what it says of itself; connecting again at another revision.

import { html, useState } from "../html.js";
import { Button, ProblemNote } from "../parts/pane.js";
import { Diagnosis } from "./diagnosis.js";
import { Authorization } from "./authorization.js";
import { Tree } from "../parts/content.js";
import { connect, disconnect, pick, request, saveTrace, sendRaw, setLevel, store } from "../actions.js";
import { duration, size, visible, visibleLines, count } from "../format.js";
import { targetOf } from "../state.js";

/** Kinds of targets that nothing can be asked of. */
const WITHOUT_SERVER = ["trace", "watched", "gateway"];
/** @type {Record<string, string>} */
const TRANSPORTS = { watched: "stdio, between another client and the server", gateway: "messages of a running gateway" };
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/**
 * @param {{ state: import("../state.js").State }} props
 */
export function ServerView({ state }) {
  const target = targetOf(state);
  if (!target) return html`<div class="nothing">Connecting…</div>`;
  return html`
    <section class="sheet" aria-label="Server">
      <h2><bdi>${visible(target.server?.title ?? target.server?.name ?? target.label, 200)}</bdi> <span class="status-word" data-status=${target.state === "open" ? "ok" : target.state}>${visible(target.state, 20)}</span></h2>
      <${ProblemNote} problem=${target.error} />
      <${Servers} state=${state} shown=${target.target} />
      <div class="columns">
        <div>
          <${Facts} target=${target} />
          <${Connecting} key=${target.target} target=${target} />
          <${Diagnosis} key=${`diagnosis ${target.target}`} target=${target} />
          <${Sessions} state=${state} target=${target} />
        </div>
        <div>
          ${target.instructions && html`<h3>Instructions</h3><p class="says block"><bdi>${visibleLines(target.instructions, 50_000)}</bdi></p>`}
          <h3>Capabilities</h3>
          ${target.capabilities ? html`<${Tree} value=${target.capabilities} label="Capabilities" open=${4} />` : html`<p class="note">Not known: the server has not greeted.</p>`}
          ${target.greeting && html`<details><summary>The whole greeting</summary><${Tree} value=${target.greeting} label="Greeting" open=${4} /></details>`}
        </div>
      </div>
      ${target.kind === "http" && html`<${Authorization} key=${`authorization ${target.target}`} state=${state} />`}
      ${target.state === "open" && html`<${Raw} />`}
    </section>`;
}

/**
 * The servers to pick from, such as those of a client's configuration.
 * @param {{ state: import("../state.js").State, shown: number }} props
 */
function Servers({ state, shown }) {
  const targets = state.server?.targets ?? [];
  if (targets.length < 2) return null;
  const isOpen = (/** @type {import("../contract.js").Target} */ one) => one.state === "open" || one.state === "connecting";
  const isServer = (/** @type {import("../contract.js").Target} */ one) => !WITHOUT_SERVER.includes(one.kind);
  return html`
    <h3>Servers</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Servers"><table class="sessions"><thead><tr><th>server</th><th>transport</th><th>state</th><th><span class="unseen">connection</span></th></tr></thead>
      <tbody>${targets.map((one) => html`<tr key=${one.target}>
        <td><button type="button" class="link" aria-current=${one.target === shown ? "true" : undefined} onClick=${() => store.dispatch({ type: "target", target: one.target })}><bdi>${visible(one.label, 160)}</bdi></button></td>
        <td>${visible(one.kind, 20)}</td><td>${visible(one.state, 20)}</td>
        <td>${isServer(one) && !isOpen(one) && html`<button type="button" class="small" aria-label=${`Connect ${visible(one.label, 160)}`} onClick=${() => void pick(one.target)}>Connect</button>`}</td></tr>`)}</tbody></table></div>`;
}

/** @param {{ target: import("../contract.js").Target }} props */
function Facts({ target }) {
  const facts = [
    ["Target", target.label], ["Transport", TRANSPORTS[target.kind] ?? target.kind], ["Name", target.server?.name], ["Version", target.server?.version],
    ["Revision", target.revision ? `${target.revision}${target.era ? ` (${target.era})` : ""}` : null], ["Subscriptions", target.subscribed.join(", ")],
  ];
  return html`<dl class="facts-list">${facts.filter(([, value]) => value).map(([name, value]) => html`
    <div key=${name}><dt>${name}</dt><dd><bdi>${visible(value, 500)}</bdi></dd></div>`)}</dl>`;
}

/** @param {{ target: import("../contract.js").Target }} props */
function Connecting({ target }) {
  const [revision, setRevision] = useState("");
  if (target.kind === "trace") return html`<p class="note">This is a recording: there is no server to ask.</p>`;
  if (target.kind === "watched") return html`<p class="note">This is what a client and its server say to each other. Nothing can be sent from here.</p>`;
  if (target.kind === "gateway") return html`<p class="note">This is what a gateway, its clients and its upstreams say to each other. Nothing can be sent from here.</p>`;
  const open = target.state === "open";
  const connecting = target.state === "connecting";
  return html`
    <h3>Connection</h3>
    <div class="line">
      <label for="revision">Revision</label>
      <select id="revision" value=${revision} onChange=${(/** @type {any} */ e) => setRevision(e.target.value)}>
        <option value="">find out</option>
        ${target.offered.map((one) => html`<option key=${one} value=${one}>${visible(one, 40)}</option>`)}
      </select>
      <${Button} label=${open || connecting ? "Reconnect" : "Connect"} kind="strong" onClick=${() => void connect(revision || null)} />
      <${Button} label=${connecting ? "Stop connecting" : "Disconnect"} disabled=${!open && !connecting} onClick=${() => void disconnect()} />
    </div>
    <div class="line">
      <label for="level">Log level</label>
      <select id="level" value=${target.level} disabled=${!open} onChange=${(/** @type {any} */ e) => void setLevel(e.target.value)}>
        ${!LEVELS.includes(target.level) && html`<option value=${target.level}>${visible(target.level || "not set", 40)}</option>`}
        ${LEVELS.map((level) => html`<option key=${level} value=${level}>${level}</option>`)}
      </select>
      <${Button} label="Ping" disabled=${!open} onClick=${() => void ping()} />
      <${Button} label="Save the trace" keys="Ctrl+S" onClick=${() => void saveTrace()} />
    </div>`;
}

async function ping() {
  const row = await request("ping", {});
  if (row) store.dispatch({ type: "go", view: "traffic", q: "", at: row });
}

/** @param {{ state: import("../state.js").State, target: import("../contract.js").Target }} props */
function Sessions({ state, target }) {
  const sessions = (state.server?.sessions ?? []).filter((session) => session.target === target.target).slice(-20);
  const ring = state.server?.ring;
  return html`
    <h3>Sessions</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Sessions"><table class="sessions"><thead><tr><th>session</th><th>transport</th><th>lasted</th><th>rows</th><th>judged</th><th><span class="unseen">traffic</span></th></tr></thead>
      <tbody>${sessions.map((one) => html`<tr key=${one.session}>
        <td>${one.session}</td><td>${visible(one.transport, 20)}</td><td>${one.ended === null ? "open" : duration((one.ended - one.began) / 1000)}</td><td>${one.rows}</td>
        <td>${one.judged ? "yes" : visible(one.why ?? "no", 100)}</td>
        <td><button type="button" class="link" aria-label=${`Show session ${one.session}`} onClick=${() => store.dispatch({ type: "go", view: "traffic", q: `session:${one.session}`, at: 0 })}>show</button></td></tr>`)}</tbody></table></div>
    ${ring && html`<p class="note">${size(ring.used)} of ${size(ring.limit)} kept on disk${ring.dropped_rows > 0 ? `; ${count(ring.dropped_rows, "row")} (${size(ring.dropped_bytes)}) dropped` : ""}${ring.unwritten ? `; ${count(ring.unwritten, "frame")} could not be written` : ""}.</p>`}`;
}

function Raw() {
  const [raw, setRaw] = useState('{"jsonrpc":"2.0","id":"mine","method":"ping"}');
  const send = async () => {
    const row = await sendRaw(raw);
    if (row) store.dispatch({ type: "go", view: "traffic", q: "", at: row });
  };
  return html`
    <h3><label for="raw">Raw message</label></h3>
    <p class="note">Sent as it stands, valid or not.</p>
    <textarea id="raw" class="mono" rows="4" spellcheck=${false} value=${raw} onInput=${(/** @type {any} */ e) => setRaw(e.target.value)}></textarea>
    <div class="actions"><button type="button" class="strong" data-send-button onClick=${() => void send()}>Send <kbd aria-hidden="true">Ctrl+Enter</kbd></button></div>`;
}

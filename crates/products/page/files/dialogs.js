// What opens above the page: keys, palette, a message to edit, a test to save, a rule explained. Focus returns where it was.

import { html, useLayoutEffect, useState } from "./html.js";
import { COMMANDS } from "./keys.js";
import { Palette } from "./palette.js";
import { KeyTable, Letters, Modal } from "./parts/modal.js";
import { Button } from "./parts/pane.js";
import { Difference } from "./parts/diff.js";
import { copy, request, saveTests, say, sendRaw, store, stripped } from "./actions.js";
import { count, visible, visibleLines } from "./format.js";
import { text as jsonText, tryParse } from "./json.js";

/**
 * @param {{ state: import("./state.js").State, run: (command: string) => void }} props
 */
export function Dialogs({ state, run }) {
  const { dialog } = state;
  if (!dialog) return null;
  if (dialog.kind === "palette") return html`<${Modal} close=${close} key="palette" title="Commands" bare><${Palette} state=${state} run=${run} /><//>`;
  if (dialog.kind === "help") return html`<${Modal} close=${close} key="help" title="Keys"><${Help} state=${state} /><//>`;
  if (dialog.kind === "edit") return html`<${Modal} close=${close} key="edit" title=${`Edit row ${dialog.row} and resend`}><${Edit} dialog=${dialog} /><//>`;
  if (dialog.kind === "test") return html`<${Modal} close=${close} key="test" title="Test for proof test"><${Test} dialog=${dialog} /><//>`;
  if (dialog.kind === "compare") return html`<${Modal} close=${close} key="compare" title=${`Row ${dialog.base} and row ${dialog.n}`}><${Compare} dialog=${dialog} /><//>`;
  if (dialog.kind === "rule") return html`<${Modal} close=${close} key="rule" title=${visible(dialog.id, 120)}><pre class="text" tabindex="0">${visibleLines(dialog.text)}</pre><//>`;
  return null;
}

const close = () => store.dispatch({ type: "dialog", dialog: null });

/** @param {{ state: import("./state.js").State }} props */
function Help({ state }) {
  return html`
    <${KeyTable} commands=${COMMANDS} />
    <${Letters} on=${state.letters} turn=${() => store.dispatch({ type: "letters" })} />`;
}

/** @param {{ dialog: any }} props */
function Edit({ dialog }) {
  const [whole, setWhole] = useState(false);
  const [method, setMethod] = useState(String(dialog.method));
  const [params, setParams] = useState(() => (dialog.params === undefined ? "" : jsonText(stripped(dialog.params))));
  const [raw, setRaw] = useState(String(dialog.text));
  const { value, problem } = params.trim() === "" ? { value: undefined, problem: null } : tryParse(params);
  const send = async () => {
    const row = whole ? await sendRaw(raw) : await request(method, value, { row: dialog.row });
    if (!row) return;
    close();
    say(`Sent as row ${row}`);
    store.dispatch({ type: "go", view: "traffic", at: row });
  };
  // Not after the next painting: what is typed right before the key would be left out.
  useLayoutEffect(() => {
    const key = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && (whole || problem === null)) void send();
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  });
  return html`
    <div class="tabs" role="group" aria-label="What is edited">
      <${Button} label="Request" pressed=${!whole} onClick=${() => setWhole(false)} />
      <${Button} label="Raw message" pressed=${whole} title="Sent as it stands, with this id, valid or not" onClick=${() => setWhole(true)} />
    </div>
    ${whole
      ? html`<label class="field" for="edit-raw">Message</label><textarea id="edit-raw" class="mono" rows="16" spellcheck=${false} value=${raw} onInput=${(/** @type {any} */ e) => setRaw(e.target.value)}></textarea>`
      : html`<label class="field" for="edit-method">Method</label><input id="edit-method" class="mono" value=${method} onInput=${(/** @type {any} */ e) => setMethod(e.target.value)} />
          <label class="field" for="edit-params">Params</label><textarea id="edit-params" class="mono" rows="14" spellcheck=${false} aria-invalid=${String(problem !== null)} value=${params} onInput=${(/** @type {any} */ e) => setParams(e.target.value)}></textarea>
          ${problem && html`<p class="bad">${problem}</p>`}`}
    <div class="actions"><button type="button" class="strong" disabled=${!whole && problem !== null} onClick=${() => void send()}>Send <kbd aria-hidden="true">Ctrl+Enter</kbd></button></div>`;
}

/** @param {{ dialog: any }} props */
function Compare({ dialog }) {
  return dialog.pairs.map((/** @type {any} */ pair) => html`<section key=${pair.name}><h3>${pair.name}</h3><${Difference} before=${pair.before} after=${pair.after} label=${pair.name} /></section>`);
}

/** @param {{ dialog: any }} props */
function Test({ dialog }) {
  return html`
    <p>${count(dialog.cases, "case")}. Save it, then run <code>proof test recorded.mcp.yaml</code>.</p>
    ${dialog.left_out.map((/** @type {any} */ one) => html`<p class="bad" key=${one.row}>Row ${one.row} is left out: ${visible(one.why, 300)}</p>`)}
    <pre class="text" tabindex="0" aria-label="Test file">${visibleLines(dialog.text)}</pre>
    <div class="actions">
      <${Button} label="Save" kind="strong" onClick=${() => saveTests(dialog.text)} />
      <${Button} label="Copy" onClick=${() => void copy(dialog.text)} />
      <${Button} label="Clear the marks" onClick=${() => { store.dispatch({ type: "unmark" }); close(); }} />
    </div>`;
}

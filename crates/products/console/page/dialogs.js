// What opens above the page: keys, palette, a message to edit, a test to save, a rule explained. Focus returns where it was.

import { html, useLayoutEffect, useMemo, useRef, useState } from "./html.js";
import { COMMANDS, keyLabel } from "./keys.js";
import { Palette } from "./palette.js";
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
  if (dialog.kind === "palette") return html`<${Modal} key="palette" title="Commands" bare><${Palette} state=${state} run=${run} /><//>`;
  if (dialog.kind === "help") return html`<${Modal} key="help" title="Keys"><${Help} state=${state} /><//>`;
  if (dialog.kind === "edit") return html`<${Modal} key="edit" title=${`Edit row ${dialog.row} and resend`}><${Edit} dialog=${dialog} /><//>`;
  if (dialog.kind === "test") return html`<${Modal} key="test" title="Test for proof test"><${Test} dialog=${dialog} /><//>`;
  if (dialog.kind === "compare") return html`<${Modal} key="compare" title=${`Row ${dialog.base} and row ${dialog.n}`}><${Compare} dialog=${dialog} /><//>`;
  if (dialog.kind === "rule") return html`<${Modal} key="rule" title=${visible(dialog.id, 120)}><pre class="text" tabindex="0">${visibleLines(dialog.text)}</pre><//>`;
  return null;
}

const close = () => store.dispatch({ type: "dialog", dialog: null });

/** @param {{ title: string, bare?: boolean, children?: any }} props */
function Modal({ title, bare = false, children }) {
  const node = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const before = document.activeElement;
    node.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return html`
    <dialog ref=${node} aria-label=${title} class=${bare ? "bare" : ""} onClose=${close}
      onClick=${(/** @type {any} */ event) => { if (event.target === node.current) close(); }}>
      ${!bare && html`<header><h2>${title}</h2><button type="button" class="quiet" aria-label="Close" onClick=${close}>×</button></header>`}
      ${children}
    </dialog>`;
}

/** @param {{ state: import("./state.js").State }} props */
function Help({ state }) {
  const groups = useMemo(() => [...new Set(COMMANDS.map(({ group }) => group))], []);
  return html`
    <div class="help">${groups.map((group) => html`<section key=${group}><h3>${group}</h3><dl>${COMMANDS.filter((one) => one.group === group && one.keys.length > 0).map((one) => html`
      <div key=${one.id}><dt>${one.keys.map((key) => html`<kbd key=${key}>${keyLabel(key)}</kbd>`)}</dt><dd>${one.label}</dd></div>`)}</dl></section>`)}</div>
    <p class="actions"><${Button} label="Letters as keys" pressed=${state.letters} onClick=${() => store.dispatch({ type: "letters" })} />
      <span class="note">Turn them off where they get in the way of speech input. Everything is also in the palette (Ctrl+K) and reachable by Tab.</span></p>`;
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

// A form for a JSON Schema. Every member is absent, null or a value; what the form cannot show is edited as JSON in its place.

import { html, useEffect, useRef, useState } from "../html.js";
import { at as valueAt, first, numberFrom, put, stateOf } from "./form-model.js";
import { ExactNumber, pointer, text, tryParse, equal } from "../json.js";
import { named, visible, visibleLines } from "../format.js";

/**
 * @typedef {import("./form-model.js").Field} Field
 * @typedef {import("./form-model.js").Path} Path
 * @typedef {(path: Path, value: any) => void} Change
 * @typedef {{ path: string, message: string }[]} Problems
 * @typedef {{ path: Path, argument: string, value: string }} Wanted
 * @typedef {{ prefix: string, value: any, problems: Problems, change: Change, complete?: (path: Path, typed: string) => Promise<string[]> }} Shared
 */

/**
 * @param {{ id: string, field: Field, value: any, problems: Problems, onChange: (value: any) => void, complete?: Shared["complete"] }} props
 */
export function Form({ id, field, value, problems, onChange, complete }) {
  const shared = { prefix: id, value, problems, complete, change: (/** @type {Path} */ path, /** @type {any} */ next) => onChange(put(value, path, next)) };
  if (field.kind !== "object") return html`<${Value} shared=${shared} field=${field} path=${[]} />`;
  if (field.members.length === 0) return html`<p class="note">No arguments.</p>`;
  return html`<div class="form">${field.members.map((member) => html`
    <${Member} key=${member.name} shared=${shared} member=${member} path=${[member.name]} />`)}</div>`;
}

/** @param {Shared} shared @param {Path} path */
const idOf = (shared, path) => `${shared.prefix}${pointer(path)}`.replace(/\s/g, "_");

/** @param {Shared} shared @param {Path} path */
const wrong = (shared, path) => shared.problems.filter((problem) => problem.path === pointer(path));

/**
 * @param {{ shared: Shared, member: { name: string, required: boolean, field: Field }, path: Path }} props
 */
function Member({ shared, member, path }) {
  const { name, required, field } = member;
  const state = stateOf(valueAt(shared.value, path));
  const id = idOf(shared, path);
  const bad = wrong(shared, path);
  const type = typeWords(field);
  return html`
    <div class=${`member ${state}`} role="group" aria-labelledby=${`${id}-name`}>
      <div class="member-head">
        <label id=${`${id}-name`} for=${id} class="member-name"><bdi>${named(name, 120)}</bdi>${required && html`<span class="required" title="required">required</span>`}</label>
        <span class="type">${type}</span>
        <${States} shared=${shared} field=${field} path=${path} state=${state} name=${name} required=${required} />
      </div>
      ${field.title && field.title !== name && html`<p class="note"><bdi>${visible(field.title, 300)}</bdi></p>`}
      ${field.description && html`<p class="note" id=${`${id}-note`}><bdi>${visibleLines(field.description, 2000)}</bdi></p>`}
      ${state === "value" && html`<${Value} shared=${shared} field=${field} path=${path} />`}
      ${bad.map(({ message }) => html`<p class="bad" key=${message}>${visible(message, 300)}</p>`)}
    </div>`;
}

/** @param {Field} field */
function typeWords(field) {
  const kind = field.kind === "json" ? field.why || "any JSON" : field.kind === "array" && field.items ? `array of ${field.items.kind}` : field.kind;
  return visible(`${kind}${field.format ? `, ${field.format}` : ""}${field.nullable && field.kind !== "null" ? " or null" : ""}`, 160);
}

/**
 * The three states of a member, as buttons of which one is pressed.
 * @param {{ shared: Shared, field: Field, path: Path, state: string, name: string, required: boolean }} props
 */
function States({ shared, field, path, state, name, required }) {
  const kept = useRef(/** @type {any} */ (undefined));
  const present = valueAt(shared.value, path);
  if (present !== undefined && present !== null) kept.current = present;
  const choose = (/** @type {string} */ next) => {
    const value = next === "absent" ? undefined : next === "null" ? null : kept.current ?? first(field);
    shared.change(path, value);
  };
  const label = (/** @type {string} */ one) => (one === "value" ? "value" : one);
  const states = field.kind === "null" ? ["absent", "null"] : ["absent", "null", "value"];
  return html`<span class="states" role="group" aria-label=${`State of ${visible(name, 80)}`}>${states.map((one) => html`
    <button key=${one} type="button" aria-pressed=${String(one === state)}
      class=${one === "absent" && required && state === "absent" ? "wrong" : one === "null" && !field.nullable ? "unusual" : ""}
      title=${one === "null" && !field.nullable ? "null is not valid here; send it to test the server" : undefined}
      onClick=${() => choose(one)}>${label(one)}</button>`)}</span>`;
}

/**
 * @param {{ shared: Shared, field: Field, path: Path }} props
 */
function Value({ shared, field, path }) {
  const value = valueAt(shared.value, path);
  const id = idOf(shared, path);
  const set = (/** @type {any} */ next) => shared.change(path, next);
  const common = { id, "aria-invalid": String(wrong(shared, path).length > 0), "aria-describedby": field.description && typeof path.at(-1) === "string" ? `${id}-note` : undefined,
    "aria-label": typeof path.at(-1) === "number" ? `item ${path.at(-1)}` : undefined };
  switch (field.kind) {
    case "boolean":
      if (typeof value !== "boolean") break;
      return html`<label class="check"><input type="checkbox" ...${common} checked=${value} onChange=${(/** @type {any} */ e) => set(e.target.checked)} /> ${String(value)}</label>`;
    case "enum":
      return html`<${Options} field=${field} value=${value} set=${set} common=${common} />`;
    case "string":
      if (typeof value !== "string") break;
      return html`<${Text} field=${field} value=${value} set=${set} common=${common} shared=${shared} path=${path} />`;
    case "number":
    case "integer":
      return html`<${NumberInput} value=${value} set=${set} common=${common} />`;
    case "array":
      if (!Array.isArray(value)) break;
      return html`<${Items} shared=${shared} field=${field} path=${path} value=${value} />`;
    case "object":
      if (value === null || typeof value !== "object" || Array.isArray(value)) break;
      return html`<div class="form nested">${field.members.map((member) => html`
        <${Member} key=${member.name} shared=${shared} member=${member} path=${[...path, member.name]} />`)}</div>`;
  }
  return html`<${JsonInput} value=${value} set=${set} common=${common} label=${common["aria-label"] ?? (path.length ? "" : "Arguments as JSON")} />`;
}

/** @param {{ field: Field, value: any, set: (value: any) => void, common: any }} props */
function Options({ field, value, set, common }) {
  const chosen = field.options.findIndex((option) => equal(option, value));
  return html`<select ...${common} value=${String(chosen)} onChange=${(/** @type {any} */ e) => { if (e.target.value !== "-1") set(field.options[Number(e.target.value)]); }}>
    ${chosen < 0 && html`<option value="-1">${visible(text(value, 0), 80)} (not an option)</option>`}
    ${field.labels.map((label, at) => html`<option key=${at} value=${String(at)}>${visible(label, 200)}</option>`)}
  </select>`;
}

/** @param {{ field: Field, value: string, set: (value: any) => void, common: any, shared: Shared, path: Path }} props */
function Text({ field, value, set, common, shared, path }) {
  const [offer, setOffer] = useState(/** @type {string[]} */ ([]));
  const list = `${common.id}-list`;
  const input = async (/** @type {any} */ event) => {
    set(event.target.value);
    if (!shared.complete) return;
    const found = await shared.complete(path, event.target.value).catch(() => []);
    setOffer(found.slice(0, 100));
  };
  const types = /** @type {Record<string, string>} */ ({ date: "date", email: "email", uri: "url" });
  if (value.includes("\n") || value.length > 80 || field.schema.contentMediaType) {
    return html`<textarea ...${common} rows="4" value=${value} spellcheck=${false} onInput=${input}></textarea>`;
  }
  return html`
    <div class="text-line">
      <input ...${common} type=${types[field.format] ?? "text"} value=${value} list=${shared.complete ? list : undefined} autocomplete="off" spellcheck=${false} onInput=${input}
        onFocus=${shared.complete ? input : undefined} />
      ${types[field.format] === undefined && html`<button type="button" class="quiet" aria-label="More lines" title="More lines" onClick=${() => set(`${value}\n`)}>⏎</button>`}
      ${shared.complete && html`<datalist id=${list}>${offer.map((one) => html`<option key=${one} value=${one}></option>`)}</datalist>`}
    </div>`;
}

/** @param {{ value: any, set: (value: any) => void, common: any }} props */
function NumberInput({ value, set, common }) {
  const shown = typeof value === "string" || typeof value === "number" || value instanceof ExactNumber ? String(value) : text(value, 0);
  const [draft, setDraft] = useState(shown);
  // What was typed stays as it was typed, such as `1.0`, unless the value changed elsewhere.
  useEffect(() => {
    if (!equal(numberFrom(draft), value)) setDraft(shown);
  }, [shown]);
  const input = (/** @type {any} */ event) => {
    setDraft(event.target.value);
    set(numberFrom(event.target.value));
  };
  return html`<input ...${common} inputmode="decimal" autocomplete="off" value=${draft} onInput=${input} />`;
}

/** @param {{ shared: Shared, field: Field, path: Path, value: any[] }} props */
function Items({ shared, field, path, value }) {
  const items = /** @type {Field} */ (field.items);
  const id = idOf(shared, path);
  const shown = value.slice(0, 200);
  return html`
    <div class="form nested" id=${id}>
      ${shown.map((item, index) => html`
        <div class="entry" key=${index}>
          <span class="index">${index}</span>
          <div>
            ${item === null ? html`<code>null</code>` : html`<${Value} shared=${shared} field=${items} path=${[...path, index]} />`}
            ${wrong(shared, [...path, index]).map(({ message }) => html`<p class="bad" key=${message}>${visible(message, 300)}</p>`)}
          </div>
          ${items.nullable && html`<button type="button" aria-pressed=${String(item === null)} onClick=${() => shared.change([...path, index], item === null ? first(items) : null)}>null</button>`}
          <button type="button" class="quiet" aria-label=${`Remove item ${index}`} title="Remove" onClick=${() => shared.change([...path, index], undefined)}>×</button>
        </div>`)}
      ${value.length > shown.length && html`<p class="note">${value.length - shown.length} more items: edit them as JSON.</p>`}
      <button type="button" class="add" onClick=${() => shared.change([...path, value.length], first(items) ?? null)}>Add item</button>
    </div>`;
}

/**
 * A value as JSON text. Text that is not JSON stays in the box and changes nothing.
 * @param {{ value: any, set: (value: any) => void, common?: any, label?: string, rows?: number }} props
 */
export function JsonInput({ value, set, common = {}, label = "", rows = 4 }) {
  const [draft, setDraft] = useState(() => text(value));
  const { problem, value: parsed } = tryParse(draft);
  useEffect(() => {
    const now = tryParse(draft);
    if (now.problem !== null ? false : !equal(now.value, value)) setDraft(text(value));
  }, [value]);
  const input = (/** @type {any} */ event) => {
    setDraft(event.target.value);
    const next = tryParse(event.target.value);
    if (next.problem === null) set(next.value);
  };
  void parsed;
  return html`
    <textarea ...${common} class="mono" rows=${rows} value=${draft} spellcheck=${false} aria-label=${label || undefined} aria-invalid=${String(problem !== null)} onInput=${input}></textarea>
    ${problem && html`<p class="bad">${problem}</p>`}`;
}

// A list of commands and things, found by a few letters of their names. `ranked` is pure.

import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { named } from "../format.js";

const MOST = 60;

/**
 * @typedef {{ id: string, label: string, kind: string, keys: string, run: () => void }} Entry
 *
 * @param {{ entries: Entry[], close: () => void, placeholder: string }} props
 */
export function Chooser({ entries, close, placeholder }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = useMemo(() => ranked(entries, typed).slice(0, MOST), [entries, typed]);
  const chosen = Math.min(at, shown.length - 1);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const take = (/** @type {Entry | undefined} */ entry) => {
    if (!entry) return;
    close();
    // After the dialog is gone, so that an action may open another one or move the focus.
    setTimeout(() => entry.run(), 0);
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0 && shown.length > 0) {
      event.preventDefault();
      setAt((chosen + by + shown.length) % shown.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      take(shown[chosen]);
    }
  };
  return html`
    <div class="palette">
      <input type="text" role="combobox" aria-label="Command" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${shown.length > 0 ? `palette-${chosen}` : undefined}
        placeholder=${placeholder} autocomplete="off" spellcheck=${false} value=${typed} autofocus
        onInput=${(/** @type {any} */ event) => { setTyped(event.target.value); setAt(0); }} onKeyDown=${key} />
      <ul id="palette-list" role="listbox" aria-label="Commands" ref=${list}>
        ${shown.map((entry, index) => html`<li key=${entry.id} id=${`palette-${index}`} role="option" aria-selected=${String(index === chosen)} onClick=${() => take(entry)}>
          <bdi>${named(entry.label, 120)}</bdi> <span class="dim">${entry.kind}</span>${entry.keys && html`<kbd>${entry.keys}</kbd>`}</li>`)}
      </ul>
      ${shown.length === 0 && html`<p class="note">Nothing has this name.</p>`}
    </div>`;
}

/**
 * The entries that have all letters of every word in order, best first: beginnings, then words, then the rest.
 * @template {{ label: string, kind: string }} T
 * @param {T[]} entries
 * @param {string} typed
 * @returns {T[]}
 */
export function ranked(entries, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  const scored = [];
  for (const entry of entries) {
    const label = `${entry.label} ${entry.kind}`.toLowerCase();
    const scores = words.map((word) => score(label, word));
    if (scores.every((one) => one > 0)) scored.push({ entry, score: scores.reduce((a, b) => a + b, /** @type {number} */ (0)) });
  }
  return scored.sort((a, b) => b.score - a.score || a.entry.label.length - b.entry.label.length).map(({ entry }) => entry);
}

/** @param {string} label @param {string} word @returns {number} */
function score(label, word) {
  const at = label.indexOf(word);
  if (at === 0) return 4;
  if (at > 0) return /[a-z0-9]/.test(label[at - 1]) ? 2 : 3;
  let from = 0;
  for (const char of word) {
    const next = label.indexOf(char, from);
    if (next < 0) return 0;
    from = next + 1;
  }
  return 1;
}

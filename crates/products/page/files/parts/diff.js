// The difference between two texts, line by line, and how it is shown. `lines` and `folded` are pure.

import { html } from "../html.js";
import { visibleLines, count } from "../format.js";

// What the table of common lines may cost: beyond it everything between the equal ends counts as changed.
const MOST_CELLS = 4_000_000;
const AROUND = 3;

/** @typedef {{ sign: " " | "-" | "+", text: string }} Line */

/**
 * @param {string} before
 * @param {string} after
 * @returns {Line[]}
 */
export function lines(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (/** @type {string[]} */ texts) => texts.map((text) => /** @type {Line} */ ({ sign: " ", text }));
  const middle = changed(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - end))];
}

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Line[]}
 */
function changed(a, b) {
  const all = (/** @type {"-" | "+"} */ sign, /** @type {string[]} */ texts) => texts.map((text) => ({ sign, text }));
  if (a.length * b.length > MOST_CELLS) return [...all("-", a), ...all("+", b)];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  /** @type {Line[]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push({ sign: " ", text: a[i] });
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || longest[(i + 1) * width + j] >= longest[i * width + j + 1])) found.push({ sign: "-", text: a[i++] });
    else found.push({ sign: "+", text: b[j++] });
  }
  return found;
}

/**
 * Runs of equal lines become one note, but for a few around each change.
 * @param {Line[]} all
 * @returns {(Line | { sign: "…", text: string })[]}
 */
export function folded(all) {
  const near = new Set();
  all.forEach(({ sign }, at) => {
    if (sign !== " ") for (let by = -AROUND; by <= AROUND; by += 1) near.add(at + by);
  });
  /** @type {(Line | { sign: "…", text: string })[]} */
  const shown = [];
  let hidden = 0;
  const flush = () => {
    if (hidden > 0) shown.push({ sign: "…", text: count(hidden, "equal line") });
    hidden = 0;
  };
  all.forEach((line, at) => {
    if (near.has(at)) {
      flush();
      shown.push(line);
    } else hidden += 1;
  });
  flush();
  return shown;
}

const NAMES = /** @type {Record<string, string>} */ ({ "-": "removed", "+": "added" });

/**
 * @param {{ before: string, after: string, label: string }} props
 */
export function Difference({ before, after, label }) {
  if (before === after) return html`<p class="note">Equal.</p>`;
  return html`<div class="diff mono" role="region" aria-label=${label} tabindex="0">${folded(lines(before, after)).slice(0, 5000).map(({ sign, text }, at) => html`
    <div key=${at} data-sign=${sign}><span aria-hidden="true">${sign}</span>${NAMES[sign] && html`<span class="unseen">${NAMES[sign]}</span>`}<bdi>${visibleLines(text, 5000)}</bdi></div>`)}</div>`;
}

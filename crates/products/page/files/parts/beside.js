// Two JSON values beside each other: which members differ, and which of these differ by nature (times, ids, what a revision adds).
// `aligned`, `nature` and `compared` are pure.

import { html } from "../html.js";
import { text } from "../json.js";
import { count, visibleLines } from "../format.js";

const MOST_ROWS = 4000;
const AROUND = 2;
// Above this many elements, arrays are compared place by place.
const MOST_ELEMENTS = 300;

/**
 * @typedef {"same" | "differs" | "left" | "right" | "nature"} RowState
 * @typedef {{ depth: number, left: string | null, right: string | null, state: RowState, why: string, first: boolean }} Row a line of both sides; the first of its place or a further one
 */

const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const OPAQUE = /^(?=.*\d)(?=.*[A-Za-z])[\w+/=-]{16,}$/;
const HANDLES = new Set(["taskId", "requestState", "cursor", "nextCursor", "progressToken", "sessionId"]);
const PROTOCOL = "io.modelcontextprotocol/";
/** What only some revisions put into a result. */
const OF_REVISION = new Set(["resultType", "ttlMs", "cacheScope"]);

/** @param {any} value */
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && Object.getPrototypeOf(value) === Object.prototype;

/** Members in order of their names, so that order makes no difference. @param {any} value @returns {any} */
export function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
}

/** @param {any} value */
const key = (value) => text(sorted(value), 0);

/** Whether two values are equal whatever the order of their members. @param {any} a @param {any} b */
export const equals = (a, b) => (a === undefined || b === undefined ? a === b : key(a) === key(b));

/**
 * Why two values may differ without one of them being wrong; an empty text where nothing says so.
 * @param {string} name
 * @param {any} a undefined where it is missing
 * @param {any} b
 * @returns {string}
 */
export function nature(name, a, b) {
  if (a === undefined || b === undefined) return isOfRevision(name, a ?? b) ? "revision" : "";
  if (name.startsWith(PROTOCOL)) return "revision";
  if (typeof a !== typeof b) return "";
  if (typeof a === "number") return isClock(a) && isClock(b) ? "time" : "";
  if (typeof a !== "string") return "";
  if (HANDLES.has(name)) return "id";
  if (isWhole(TIME, a) && isWhole(TIME, b)) return "time";
  if (isWhole(UUID, a) && isWhole(UUID, b)) return "id";
  if (OPAQUE.test(a) && OPAQUE.test(b)) return "id";
  const [left, right] = [a, b].map((one) => one.replace(TIME, "<time>").replace(UUID, "<id>"));
  return left === right ? "time or id" : "";
}

/** @param {string} name @param {any} value */
const isOfRevision = (name, value) =>
  OF_REVISION.has(name) || name.startsWith(PROTOCOL) || (name === "_meta" && isObject(value) && Object.keys(value).every((inner) => inner.startsWith(PROTOCOL)));

/** @param {RegExp} pattern @param {string} text */
const isWhole = (pattern, text) => text.replace(pattern, "") === "" && text !== "";

/** Seconds or milliseconds between 2001 and 2096. @param {number} value */
const isClock = (value) => Number.isInteger(value) && ((value > 1e9 && value < 4e9) || (value > 1e12 && value < 4e12));

/**
 * Both values as lines beside each other.
 * @param {any} a undefined where it is missing
 * @param {any} b
 * @returns {Row[]}
 */
export function aligned(a, b) {
  /** @type {Row[]} */
  const rows = [];
  walk(rows, "", "", a, b, 0, "");
  return rows;
}

/**
 * @param {Row[]} rows
 * @param {string} label what stands before the value
 * @param {string} name of the member
 * @param {any} a
 * @param {any} b
 * @param {number} depth
 * @param {string} comma
 */
function walk(rows, label, name, a, b, depth, comma) {
  if (rows.length > MOST_ROWS) return;
  if (a === undefined || b === undefined) return alone(rows, label, name, a, b, depth, comma);
  const kinds = [a, b].map((one) => (Array.isArray(one) ? "[]" : isObject(one) ? "{}" : ""));
  if (kinds[0] === "" || kinds[0] !== kinds[1] || equals(a, b)) return both(rows, label, name, a, b, depth, comma);
  const [open, close] = kinds[0];
  rows.push({ depth, left: label + open, right: label + open, state: "same", why: "", first: true });
  const pairs = kinds[0] === "{}" ? members(a, b) : elements(a, b);
  pairs.forEach(([before, inner, left, right], at) => walk(rows, before, inner, left, right, depth + 1, at + 1 < pairs.length ? "," : ""));
  rows.push({ depth, left: close + comma, right: close + comma, state: "same", why: "", first: false });
}

/** @param {any} a @param {any} b @returns {[string, string, any, any][]} */
function members(a, b) {
  const names = [...Object.keys(a), ...Object.keys(b).filter((name) => !Object.hasOwn(a, name))];
  const own = (/** @type {any} */ from, /** @type {string} */ name) => (Object.hasOwn(from, name) ? from[name] : undefined);
  return names.map((name) => [`${JSON.stringify(name)}: `, name, own(a, name), own(b, name)]);
}

/** Elements that are equal stay in pairs where others came or went before them. @param {any[]} a @param {any[]} b @returns {[string, string, any, any][]} */
function elements(a, b) {
  /** @type {[string, string, any, any][]} */
  const pairs = [];
  let [i, j] = [0, 0];
  const keys = a.length <= MOST_ELEMENTS && b.length <= MOST_ELEMENTS ? [a.map(key), b.map(key)] : null;
  while (i < a.length || j < b.length) {
    const later = keys && i < a.length && j < b.length && keys[0][i] !== keys[1][j] ? ahead(keys, i, j) : 0;
    if (later > 0) pairs.push(["", "", undefined, b[j++]]);
    else if (later < 0) pairs.push(["", "", a[i++], undefined]);
    else pairs.push(["", "", i < a.length ? a[i++] : undefined, j < b.length ? b[j++] : undefined]);
  }
  return pairs;
}

/** Positive where the left element comes later on the right, negative the other way round. @param {string[][]} keys @param {number} i @param {number} j */
function ahead([a, b], i, j) {
  const right = b.indexOf(a[i], j);
  const left = a.indexOf(b[j], i);
  if (right < 0 && left < 0) return 0;
  if (right >= 0 && (left < 0 || right - j <= left - i)) return 1;
  return -1;
}

/** @param {Row[]} rows @param {string} label @param {string} name @param {any} a @param {any} b @param {number} depth @param {string} comma */
function alone(rows, label, name, a, b, depth, comma) {
  const why = nature(name, a, b);
  const state = why ? "nature" : a === undefined ? "right" : "left";
  linesOf(label, a === undefined ? b : a, depth, comma).forEach(([inner, line], at) => {
    rows.push({ depth: inner, left: a === undefined ? null : line, right: a === undefined ? line : null, state, why, first: at === 0 });
  });
}

/** @param {Row[]} rows @param {string} label @param {string} name @param {any} a @param {any} b @param {number} depth @param {string} comma */
function both(rows, label, name, a, b, depth, comma) {
  const same = equals(a, b);
  const why = same ? "" : nature(name, a, b);
  const state = same ? "same" : why ? "nature" : "differs";
  const [left, right] = [linesOf(label, a, depth, comma), linesOf(label, same ? a : b, depth, comma)];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    rows.push({ depth: (left[at] ?? right[at])[0], left: left[at]?.[1] ?? null, right: right[at]?.[1] ?? null, state, why, first: at === 0 });
  }
}

/** @param {string} label @param {any} value @param {number} depth @param {string} comma @returns {[number, string][]} */
function linesOf(label, value, depth, comma) {
  const found = text(value).split("\n");
  return found.map((line, at) => {
    const inner = line.trimStart();
    return [depth + (line.length - inner.length) / 2, `${at === 0 ? label : ""}${inner}${at + 1 === found.length ? comma : ""}`];
  });
}

/**
 * How many places differ, and how many of these by nature.
 * @param {Row[]} rows
 */
export function compared(rows) {
  const places = rows.filter(({ first, state }) => first && state !== "same");
  const natural = places.filter(({ state }) => state === "nature").length;
  return { differs: places.length - natural, nature: natural };
}

/** @param {{ differs: number, nature: number }} found */
export function words({ differs, nature: natural }) {
  if (differs === 0 && natural === 0) return "Equal.";
  const by = natural > 0 ? `${count(natural, "value")} that ${natural === 1 ? "differs" : "differ"} by nature (times, ids, what a revision adds)` : "";
  return differs === 0 ? `Equal but for ${by}.` : `${count(differs, "difference")}${by ? `, and ${by}` : ""}.`;
}

/** Runs of equal lines become one note. @param {Row[]} rows @returns {(Row | number)[]} */
export function folded(rows) {
  const near = new Set();
  rows.forEach(({ state }, at) => {
    if (state !== "same") for (let by = -AROUND; by <= AROUND; by += 1) near.add(at + by);
  });
  /** @type {(Row | number)[]} */
  const shown = [];
  rows.forEach((row, at) => {
    const last = shown.at(-1);
    if (near.has(at)) shown.push(row);
    else if (typeof last === "number") shown[shown.length - 1] = last + 1;
    else shown.push(1);
  });
  return shown;
}

const SIGNS = /** @type {Record<RowState, [string, string]>} */ ({ same: ["", ""], differs: ["≠", "differs"], left: ["−", "only on the left"], right: ["+", "only on the right"], nature: ["~", "differs by nature"] });

/**
 * @param {{ left: any, right: any, label: string, names: [string, string] }} props
 */
export function Beside({ left, right, label, names }) {
  const rows = aligned(left, right);
  const found = compared(rows);
  const shown = (found.differs + found.nature > 0 ? folded(rows) : rows).slice(0, MOST_ROWS);
  const cell = (/** @type {string | null} */ line, /** @type {number} */ depth) => html`<span class=${`beside-cell in-${Math.min(depth, 12)} ${line === null ? "absent" : ""}`}><bdi>${line === null ? "" : visibleLines(line, 4000)}</bdi></span>`;
  return html`
    <p class="beside-sum" role="status">${words(found)}</p>
    <div class="beside mono" role="region" aria-label=${label} tabindex="0">
      <div class="beside-row beside-head"><span></span>${names.map((name, at) => html`<span key=${at}><bdi>${visibleLines(name, 200)}</bdi></span>`)}</div>
      ${shown.map((row, at) => typeof row === "number"
        ? html`<div key=${at} class="beside-row beside-fold"><span>…</span><span>${count(row, "equal line")}</span></div>`
        : html`<div key=${at} class="beside-row" data-state=${row.state} title=${row.why ? `by nature: ${row.why}` : undefined}>
            <span class="beside-sign" aria-hidden="true">${SIGNS[row.state][0]}</span>${row.state !== "same" && html`<span class="unseen">${SIGNS[row.state][1]}</span>`}
            ${cell(row.left, row.depth)}${cell(row.right, row.depth)}</div>`)}
    </div>
    ${rows.length > MOST_ROWS && html`<p class="note">Only the first ${MOST_ROWS} lines are compared.</p>`}`;
}

// What a row of the fleet says: its columns, the words of its gates, how rows are sorted. `paintRow` alone touches the page.

import { element } from "../html.js";
import { named, visible } from "../format.js";
import { write } from "../parts/list.js";

export const NAME = 0, STAGE = 1, WANTED = 2, GATES = 3, SCORE = 4, OWNER = 5, OLDEST = 8, MARKS = 9, TREND = 10, BLOCKED = 11;

/** What the signs of gates mean: a word, and one character where there is no room for it. @type {Record<string, { word: string, sign: string }>} */
export const LIGHTS = {
  "+": { word: "pass", sign: "✓" }, w: { word: "waived", sign: "w" }, x: { word: "fail", sign: "✕" }, "?": { word: "incomplete", sign: "?" },
  "-": { word: "skipped", sign: "–" }, ".": { word: "not run", sign: "·" }, o: { word: "old", sign: "o" }, r: { word: "running", sign: "▸" },
};

/** What needs attention comes first. */
const RANK = "xr?o.-w+";

/** @param {number | null} at seconds since 1970 @param {number} now ms */
export function age(at, now) {
  if (at === null) return "";
  const minutes = Math.max(0, Math.floor((now / 1000 - at) / 60));
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 2880) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / 1440)} d`;
}

/** Number and name. @param {number} stage @param {import("./contract.js").FleetState | null} fleet */
export function stageName(stage, fleet) {
  const name = fleet?.stages[stage - 1]?.name;
  return name ? `${stage} ${name}` : String(stage);
}

/** @param {number[]} trend */
export function trendWords(trend) {
  return trend.length < 2 ? "no move yet" : `stages ${trend.join(", ")}`;
}

/**
 * How rows compare by a column; undefined where there is no such column.
 * @param {string} column
 * @param {string[]} gates
 * @returns {((one: import("./contract.js").Row, other: import("./contract.js").Row) => number) | undefined}
 */
export function comparison(column, gates) {
  const number = (/** @type {number} */ at) => (/** @type {any} */ one, /** @type {any} */ other) => (one[at] ?? -1) - (other[at] ?? -1);
  const text = (/** @type {number} */ at) => (/** @type {any} */ one, /** @type {any} */ other) => (one[at] < other[at] ? -1 : one[at] > other[at] ? 1 : 0);
  const slope = (/** @type {any} */ row) => row[TREND].at(-1) - row[TREND][0];
  const gate = gates.indexOf(column);
  if (gate >= 0) return (one, other) => RANK.indexOf(one[GATES][gate]) - RANK.indexOf(other[GATES][gate]);
  const known = /** @type {Record<string, (one: any, other: any) => number>} */ ({
    server: text(NAME), stage: number(STAGE), score: number(SCORE), owner: text(OWNER), trend: (one, other) => slope(one) - slope(other),
    // The oldest last, as with numbers: its time is the smallest.
    age: (one, other) => (other[OLDEST] ?? Infinity) - (one[OLDEST] ?? Infinity) || 0,
  });
  return known[column];
}

const SVG = "http://www.w3.org/2000/svg";
const [WIDE, HIGH] = [56, 16];

/** Places of the line of a trend. @param {number[]} trend @param {number} stages */
export function points(trend, stages) {
  const most = Math.max(1, stages);
  const line = trend.length === 1 ? [trend[0], trend[0]] : trend;
  const step = (WIDE - 4) / (line.length - 1);
  return line.map((stage, at) => `${(2 + at * step).toFixed(1)},${(HIGH - 2 - (Math.min(stage, most) / most) * (HIGH - 4)).toFixed(1)}`).join(" ");
}

/** The line of a trend, without a word: those are next to it. */
export function spark() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDE} ${HIGH}`);
  svg.setAttribute("class", "spark");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS(SVG, "polyline"));
  return svg;
}

/** @param {HTMLElement} row @param {number} gates */
function build(row, gates) {
  const cell = (/** @type {string} */ name) => {
    const node = element("span", name);
    node.setAttribute("role", "gridcell");
    row.append(node);
    return node;
  };
  cell("f-name");
  cell("f-stage");
  const trend = cell("f-trend");
  trend.append(spark(), element("span", "unseen"));
  for (let at = 0; at < gates; at += 1) cell("f-gate");
  cell("f-score");
  cell("f-owner");
  cell("f-age");
  cell("f-blocked");
}

/**
 * @param {HTMLElement} row
 * @param {import("./contract.js").Row} data
 * @param {import("./contract.js").FleetState} fleet
 */
export function paintRow(row, data, fleet) {
  if (row.childElementCount !== fleet.gates.length + 7) {
    row.replaceChildren();
    build(row, fleet.gates.length);
  }
  const cells = /** @type {HTMLElement[]} */ ([...row.children]);
  const marks = data[MARKS];
  write(cells[0], named(data[NAME], 80));
  const wanted = data[WANTED] !== null && marks.includes("b") ? ` → ${data[WANTED]}` : "";
  write(cells[1], `${visible(stageName(data[STAGE], fleet), 30)}${wanted}${marks.includes("f") ? " fell" : ""}${marks.includes("h") ? " held" : ""}`);
  cells[1].dataset.tone = marks.includes("f") ? "fell" : marks.includes("b") ? "below" : "";
  const line = points(data[TREND], fleet.stages.length);
  const drawn = /** @type {SVGElement} */ (cells[2].firstElementChild?.firstElementChild);
  if (drawn.getAttribute("points") !== line) drawn.setAttribute("points", line);
  write(/** @type {HTMLElement} */ (cells[2].lastElementChild), trendWords(data[TREND]));
  for (let at = 0; at < fleet.gates.length; at += 1) {
    const { word, sign } = LIGHTS[data[GATES][at]] ?? LIGHTS["."];
    const cell = cells[3 + at];
    write(cell, word);
    if (cell.dataset.light !== word) {
      cell.dataset.light = word;
      cell.dataset.sign = sign;
    }
    const title = `${fleet.gates[at]}: ${word}`;
    if (cell.title !== title) cell.title = title;
  }
  const rest = cells.slice(3 + fleet.gates.length);
  write(rest[0], data[SCORE] === null ? "" : String(data[SCORE]));
  write(rest[1], visible(data[OWNER], 60));
  write(rest[2], age(data[OLDEST], Date.now()));
  write(rest[3], visible(data[BLOCKED], 120) || "nothing blocks");
}

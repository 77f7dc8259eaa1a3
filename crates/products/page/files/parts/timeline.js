// The strip of what crossed, on a canvas: one lane for each kind of row, one bar for each exchange. It shows the newest rows that
// the list knows; everything in it is in the list too, so it is a picture for those who do not see it.

import { element } from "../html.js";
import { COLUMN } from "../rows.js";
import { duration, count } from "../format.js";

const LANES = ["out", "in", "note", "stderr"];
const LANE_NAMES = ["client", "server", "notes", "stderr"];
const INKS = ["ok", "error", "pending", "note", "line", "text"];
const HEIGHT = 76;
const LEFT = 54;
const FOOT = 16;
const PAUSE = 120;

/** @typedef {import("../contract.js").Row} Row */

export class Timeline {
  /**
   * @param {{ onPick: (n: number) => void, onBrush: (from: number, to: number) => void }} options
   */
  constructor(options) {
    this.options = options;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {(() => Row[]) | null} */
    this.read = null;
    this.selected = 0;
    /** @type {{ from: number, to: number } | null} */
    this.brush = null;
    this.waiting = false;
    this.timer = 0;
    this.node = element("div", "timeline");
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.inks = INKS.map((name) => {
      const ink = element("span", `ink ink-${name}`);
      ink.hidden = true;
      return ink;
    });
    this.node.append(this.canvas, ...this.inks);
    this.observer = new ResizeObserver(() => this.plan());
    this.observer.observe(this.node);
    // The canvas keeps its colours when the theme changes: it is drawn again.
    this.themes = new MutationObserver(() => this.plan());
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.themed = () => this.plan();
    this.dark.addEventListener("change", this.themed);
    this.listen();
  }

  destroy() {
    this.observer.disconnect();
    clearTimeout(this.timer);
    this.themes.disconnect();
    this.dark.removeEventListener("change", this.themed);
    this.node.remove();
  }

  listen() {
    this.canvas.addEventListener("pointerdown", (event) => {
      this.brush = { from: event.offsetX, to: event.offsetX };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!this.brush) return;
      this.brush.to = event.offsetX;
      this.plan();
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const { brush } = this;
      this.brush = null;
      this.plan();
      if (!brush) return;
      if (Math.abs(brush.to - brush.from) < 4) this.pick(event.offsetX, event.offsetY);
      else this.options.onBrush(this.timeAt(Math.min(brush.from, brush.to)), this.timeAt(Math.max(brush.from, brush.to)));
    });
  }

  /**
   * Shows what it will read when it draws: several times a second at most, however often the list changes.
   * @param {() => Row[]} read
   * @param {number} selected
   */
  show(read, selected) {
    const at = selected !== this.selected;
    this.read = read;
    this.selected = selected;
    if (at) this.plan();
    else if (!this.timer) this.timer = window.setTimeout(() => this.plan(), PAUSE);
  }

  plan() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  get range() {
    const from = this.rows.length ? Number(this.rows[0][COLUMN.at]) : 0;
    const ends = this.rows.map((row) => Number(row[COLUMN.at]) + Number(row[COLUMN.took] ?? 0));
    return { from, to: Math.max(from + 1000, ...ends) };
  }

  /** @param {number} x */
  timeAt(x) {
    const { from, to } = this.range;
    const width = Math.max(1, this.node.clientWidth - LEFT);
    return Math.round(from + (Math.max(0, x - LEFT) / width) * (to - from));
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  pick(x, y) {
    const lane = Math.floor(y / this.lane);
    const { from, to } = this.range;
    const width = Math.max(1, this.node.clientWidth - LEFT);
    let best = 0;
    let least = 12;
    for (const row of this.rows) {
      if (laneOf(row) !== lane) continue;
      const start = LEFT + ((Number(row[COLUMN.at]) - from) / (to - from)) * width;
      const end = start + (Number(row[COLUMN.took] ?? 0) / (to - from)) * width;
      const distance = x < start ? start - x : Math.max(0, x - end);
      if (distance < least) [best, least] = [Number(row[COLUMN.n]), distance];
    }
    if (best) this.options.onPick(best);
  }

  get lane() {
    return (HEIGHT - FOOT) / LANES.length;
  }

  draw() {
    clearTimeout(this.timer);
    this.timer = 0;
    const width = this.node.clientWidth;
    if (width === 0) return;
    if (this.read) this.rows = this.read();
    this.read = null;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = HEIGHT * ratio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${HEIGHT}px`;
    const { from, to } = this.range;
    this.canvas.setAttribute("aria-label", `Timeline of ${count(this.rows.length, "row")} within ${duration((to - from) / 1000)}`);
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    context.scale(ratio, ratio);
    const ink = Object.fromEntries(INKS.map((name, at) => [name, getComputedStyle(this.inks[at]).color]));
    this.drawFrame(context, ink, width, from, to);
    const scale = (width - LEFT - 4) / (to - from);
    for (const row of this.rows) this.drawRow(context, ink, row, LEFT + (Number(row[COLUMN.at]) - from) * scale, scale);
    if (this.brush) {
      context.globalAlpha = 0.2;
      context.fillStyle = ink.text;
      context.fillRect(Math.min(this.brush.from, this.brush.to), 0, Math.abs(this.brush.to - this.brush.from), HEIGHT - FOOT);
      context.globalAlpha = 1;
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Record<string, string>} ink
   * @param {number} width
   * @param {number} from
   * @param {number} to
   */
  drawFrame(context, ink, width, from, to) {
    context.clearRect(0, 0, width, HEIGHT);
    context.font = `11px ${getComputedStyle(this.node).fontFamily}`;
    context.textBaseline = "middle";
    LANE_NAMES.forEach((name, at) => {
      context.fillStyle = ink.text;
      context.fillText(name, 8, (at + 0.5) * this.lane + 1);
      context.fillStyle = ink.line;
      context.fillRect(LEFT, (at + 1) * this.lane - 0.5, width - LEFT, 1);
    });
    context.fillStyle = ink.text;
    for (let tick = 0; tick <= 3; tick += 1) {
      context.textAlign = tick === 0 ? "left" : tick === 3 ? "right" : "center";
      const x = LEFT + (tick / 3) * (width - LEFT - 4);
      context.fillText(duration((from + (tick / 3) * (to - from)) / 1000), x, HEIGHT - FOOT / 2 + 1);
    }
    context.textAlign = "left";
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Record<string, string>} ink
   * @param {Row} row
   * @param {number} x
   * @param {number} scale
   */
  drawRow(context, ink, row, x, scale) {
    const status = row[COLUMN.status];
    const y = laneOf(row) * this.lane + 3;
    const bad = status === "error" || status === "hung" || status === "late";
    context.fillStyle = bad ? ink.error : status === "pending" ? ink.pending : row[COLUMN.kind] === "call" ? ink.ok : ink.note;
    const length = Math.max(2, Number(row[COLUMN.took] ?? 0) * scale);
    context.fillRect(x, y, length, this.lane - 6);
    if (row[COLUMN.n] === this.selected) {
      context.strokeStyle = ink.text;
      context.lineWidth = 1.5;
      context.strokeRect(x - 1.5, y - 1.5, length + 3, this.lane - 3);
    }
  }
}

/** @param {Row} row */
function laneOf(row) {
  if (row[COLUMN.kind] === "stderr") return 3;
  if (row[COLUMN.kind] !== "call") return 2;
  return row[COLUMN.dir] === "in" ? 1 : 0;
}

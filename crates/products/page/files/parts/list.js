// A list of any length in plain DOM: rows of fixed height are reused while it scrolls, so its cost does not grow with the list.
// The focus stays on the grid; `aria-activedescendant` names the selected row.

import { element } from "../html.js";

// Firefox limits the height of an element to 17.9 million pixels: beyond this, the scroll bar maps to parts of the list.
const TALLEST = 15_000_000;
const SPARE = 8;

let lists = 0;

/**
 * @typedef {object} ListOptions
 * @property {string} label
 * @property {number} rowHeight
 * @property {string[]} columns names of the columns, for those who cannot see them
 * @property {(row: HTMLElement, index: number) => void} paint fills the cells of a row; the row keeps them
 * @property {(index: number) => void} onSelect
 * @property {(index: number) => void} [onOpen]
 * @property {() => void} [onScrollUp] after the reader has left the end
 * @property {(from: number, to: number) => void} [onWindow] which rows are in sight
 */
export class VirtualList {
  /** @param {ListOptions} options */
  constructor(options) {
    this.options = options;
    this.prefix = `list${++lists}-`;
    this.count = 0;
    this.selected = -1;
    /** @type {HTMLElement[]} */
    this.rows = [];
    this.waiting = false;
    this.lastTop = 0;
    this.node = element("div", "list");
    this.node.setAttribute("role", "grid");
    this.node.setAttribute("aria-label", options.label);
    this.node.setAttribute("aria-colcount", String(options.columns.length));
    this.node.tabIndex = 0;
    this.head = headRow(options.columns);
    this.body = element("div", "list-body");
    this.body.setAttribute("role", "rowgroup");
    this.node.append(this.head, this.body);
    this.listen();
    this.observer = new ResizeObserver(() => this.plan());
    this.observer.observe(this.node);
  }

  listen() {
    this.node.addEventListener("scroll", () => {
      const up = this.node.scrollTop < this.lastTop;
      this.lastTop = this.node.scrollTop;
      this.plan();
      if (up && !this.atEnd) this.options.onScrollUp?.();
    }, { passive: true });
    this.node.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? /** @type {HTMLElement | null} */ (event.target.closest("[role=row]")) : null;
      if (!row || row === this.head) return;
      this.choose(Number(row.dataset.index));
      this.options.onOpen?.(this.selected);
    });
  }

  destroy() {
    this.observer.disconnect();
    this.node.remove();
  }

  /** Rows that fit. */
  get visible() {
    return Math.max(1, Math.floor(this.node.clientHeight / this.options.rowHeight));
  }

  get tall() {
    return this.count * this.options.rowHeight;
  }

  /** The first row in sight. */
  get top() {
    const { scrollTop, clientHeight } = this.node;
    if (this.tall <= TALLEST) return scrollTop / this.options.rowHeight;
    const share = scrollTop / Math.max(1, TALLEST - clientHeight);
    return share * Math.max(0, this.count - clientHeight / this.options.rowHeight);
  }

  get atEnd() {
    return this.node.scrollTop + this.node.clientHeight >= Math.min(this.tall, TALLEST) - this.options.rowHeight;
  }

  /** @param {number} count */
  setCount(count) {
    if (count === this.count) return;
    this.count = count;
    this.node.setAttribute("aria-rowcount", String(count + 1));
    this.body.style.height = `${Math.min(this.tall, TALLEST)}px`;
    this.plan();
  }

  /** Paints once per frame, however often it is asked. */
  plan() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    const { rowHeight } = this.options;
    const top = this.top;
    const from = Math.max(0, Math.floor(top) - SPARE);
    const to = Math.min(this.count, Math.ceil(top) + Math.ceil(this.node.clientHeight / rowHeight) + SPARE);
    this.options.onWindow?.(Math.max(0, Math.floor(top)), to);
    const needed = Math.max(0, to - from);
    while (this.rows.length < needed) this.addRow();
    const offset = this.node.scrollTop - top * rowHeight;
    for (let slot = 0; slot < this.rows.length; slot += 1) {
      const index = from + ((slot - (from % this.rows.length) + this.rows.length) % this.rows.length);
      this.place(this.rows[slot], index, index < to, offset);
    }
    const active = this.rows.find((row) => !row.hidden && Number(row.dataset.index) === this.selected);
    if (active) this.node.setAttribute("aria-activedescendant", active.id);
    else this.node.removeAttribute("aria-activedescendant");
  }

  /**
   * @param {HTMLElement} row
   * @param {number} index
   * @param {boolean} shown
   * @param {number} offset
   */
  place(row, index, shown, offset) {
    row.hidden = !shown;
    if (!shown) return;
    row.dataset.index = String(index);
    row.setAttribute("aria-rowindex", String(index + 2));
    row.setAttribute("aria-selected", String(index === this.selected));
    row.style.transform = `translateY(${index * this.options.rowHeight + offset}px)`;
    this.options.paint(row, index);
  }

  addRow() {
    const row = element("div", "row");
    row.setAttribute("role", "row");
    row.id = `${this.prefix}${this.rows.length}`;
    row.style.height = `${this.options.rowHeight}px`;
    this.rows.push(row);
    this.body.append(row);
  }

  /**
   * @param {number} index
   * @param {boolean} [quiet] without telling about it
   */
  choose(index, quiet = false) {
    const next = this.count === 0 ? -1 : Math.min(this.count - 1, Math.max(-1, index));
    const changed = next !== this.selected;
    this.selected = next;
    this.plan();
    if (changed && !quiet) this.options.onSelect(next);
  }

  /** @param {number} by */
  step(by) {
    if (this.count === 0) return;
    const from = this.selected < 0 ? (by > 0 ? -1 : this.count) : this.selected;
    this.choose(Math.min(this.count - 1, Math.max(0, from + by)));
    this.reveal(this.selected);
  }

  /** @param {number} index */
  reveal(index) {
    if (index < 0) return;
    const { clientHeight } = this.node;
    const fit = clientHeight / this.options.rowHeight;
    const top = this.top;
    if (index >= top && index + 1 <= top + fit) return;
    this.scrollToRow(index < top ? index : index + 1 - fit);
  }

  /** @param {number} row the row that becomes the first in sight */
  scrollToRow(row) {
    const { clientHeight } = this.node;
    if (this.tall <= TALLEST) {
      this.node.scrollTop = row * this.options.rowHeight;
    } else {
      const most = Math.max(1, this.count - clientHeight / this.options.rowHeight);
      this.node.scrollTop = (Math.max(0, row) / most) * (TALLEST - clientHeight);
    }
    this.plan();
  }

  toEnd() {
    this.node.scrollTop = Math.min(this.tall, TALLEST);
    this.plan();
  }
}

/** @param {string[]} columns */
function headRow(columns) {
  const head = element("div", "list-head");
  head.setAttribute("role", "rowgroup");
  const row = element("div", "unseen");
  row.setAttribute("role", "row");
  row.setAttribute("aria-rowindex", "1");
  for (const name of columns) {
    const cell = element("span", "", name);
    cell.setAttribute("role", "columnheader");
    row.append(cell);
  }
  head.append(row);
  return head;
}

/**
 * The cells of a row: made when the row is first painted, then kept.
 * @param {HTMLElement} row
 * @param {string[]} classes
 * @returns {HTMLElement[]}
 */
export function cells(row, classes) {
  if (row.childElementCount === 0) {
    for (const name of classes) {
      const cell = element("span", name);
      cell.setAttribute("role", "gridcell");
      row.append(cell);
    }
  }
  return /** @type {HTMLElement[]} */ ([...row.children]);
}

/**
 * Writes only what changed: most repaints change nothing.
 * @param {HTMLElement} cell
 * @param {string} text
 */
export function write(cell, text) {
  if (cell.textContent !== text) cell.textContent = text;
}

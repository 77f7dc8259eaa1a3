// The rows of a filtered list: those that are known, by their place in the list. What is in sight and unknown is read from the
// server in pages. Knows nothing of the DOM; `read` is given, so tests need no server.

const PAGE = 200;
const MOST_KNOWN = 20_000;

/**
 * @typedef {import("./contract.js").Row} Row
 * @typedef {import("./contract.js").Rows} Rows
 * @typedef {(query: { from?: number, at?: number, count: number }) => Promise<Rows>} Read
 */
export class RowStore {
  /**
   * @param {Read} read
   * @param {() => void} changed
   */
  constructor(read, changed) {
    this.read = read;
    this.changed = changed;
    this.matched = 0;
    this.total = 0;
    this.seq = 0;
    this.first = 1;
    /** @type {Map<number, Row>} */
    this.byIndex = new Map();
    /** @type {Map<number, number>} */
    this.indexOf = new Map();
    /** What was known before the places changed: it is shown until it is read again. @type {Map<number, Row>} */
    this.stale = new Map();
    /** @type {Set<number>} */
    this.reading = new Set();
    /** @type {any} */
    this.error = null;
    this.era = 0;
  }

  /**
   * Forgets all places, as after a change in the middle of the list.
   * @param {boolean} [all] also what is shown meanwhile
   */
  forget(all = false) {
    this.era += 1;
    this.stale = all ? new Map() : this.byIndex;
    this.byIndex = new Map();
    this.indexOf.clear();
    this.reading.clear();
  }

  /** @param {number} index */
  row(index) {
    return this.byIndex.get(index) ?? this.stale.get(index);
  }

  /** @param {number} n number of a row */
  place(n) {
    return this.indexOf.get(n) ?? -1;
  }

  /**
   * @param {number} index
   * @param {Row} row
   */
  keep(index, row) {
    const before = this.byIndex.get(index);
    if (before) this.indexOf.delete(Number(before[0]));
    this.byIndex.set(index, row);
    this.indexOf.set(Number(row[0]), index);
  }

  /**
   * Reads what is missing in a window.
   * @param {number} from
   * @param {number} to
   */
  want(from, to) {
    if (this.byIndex.size > MOST_KNOWN) this.trim(from, to);
    for (let page = Math.floor(from / PAGE); page * PAGE < Math.min(to, this.matched); page += 1) {
      const end = Math.min((page + 1) * PAGE, to, this.matched);
      let missing = false;
      for (let index = Math.max(from, page * PAGE); index < end && !missing; index += 1) missing = !this.byIndex.has(index);
      if (missing && !this.reading.has(page)) void this.fetch(page);
    }
  }

  /** @param {number} page */
  async fetch(page) {
    const era = this.era;
    this.reading.add(page);
    try {
      const answer = await this.read({ from: page * PAGE, count: PAGE });
      if (era === this.era) this.take(answer);
    } catch (error) {
      if (era === this.era) this.error = error;
    }
    if (era === this.era) this.reading.delete(page);
    this.changed();
  }

  /**
   * An answer of `/api/rows`. Rows that the feed has brought later stay.
   * @param {Rows} answer
   */
  take(answer) {
    const old = answer.seq < this.seq;
    if (!old) {
      this.matched = answer.matched;
      this.total = answer.total;
    }
    answer.rows.forEach((row, at) => {
      const index = answer.from + at;
      if (!(old && this.byIndex.has(index))) this.keep(index, row);
    });
    this.seq = Math.max(this.seq, answer.seq);
    this.error = null;
  }

  /**
   * A block `rows` of the feed.
   * @param {import("./contract.js").FeedRows} block
   */
  feed(block) {
    this.seq = Math.max(this.seq, block.seq);
    this.total = block.total;
    this.first = block.first;
    if (block.moved || block.gone.length > 0) this.forget();
    const appended = block.matched - block.appended;
    this.matched = block.matched;
    const rows = [...block.rows].sort((a, b) => Number(a[0]) - Number(b[0]));
    const fresh = block.skipped === 0 && !block.moved ? Math.min(block.appended, rows.length) : 0;
    rows.forEach((row, at) => {
      const known = this.indexOf.get(Number(row[0]));
      const place = at - (rows.length - fresh);
      if (known !== undefined) this.keep(known, row);
      else if (place >= 0) this.keep(appended + place, row);
    });
    this.changed();
  }

  /**
   * Forgets what is far from the window.
   * @param {number} from
   * @param {number} to
   */
  trim(from, to) {
    for (const [index, row] of this.byIndex) {
      if (index < from - MOST_KNOWN / 4 || index > to + MOST_KNOWN / 4) {
        this.byIndex.delete(index);
        this.indexOf.delete(Number(row[0]));
      }
    }
  }
}

/** The columns of a row, in the order of the contract. */
export const COLUMN = /** @type {const} */ ({
  n: 0, target: 1, session: 2, kind: 3, dir: 4, at: 5, took: 6, status: 7, method: 8, name: 9, size: 10, parts: 11,
  findings: 12, level: 13, rev: 14, id: 15, parent: 16,
});

/**
 * Whether the server has the columns that this page knows, in their order.
 * @param {string[]} columns
 */
export const fits = (columns) => Object.entries(COLUMN).every(([name, at]) => columns[at] === name);

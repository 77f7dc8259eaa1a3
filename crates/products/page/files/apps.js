// What the page asks of `proof inspect` for apps: their pages, their messages taken down, the answers of their servers.

import { ask, post } from "./api.js";
import { nextRound, readRow } from "./actions.js";
import { Refusal } from "./parts/app-bridge.js";
import { COLUMN } from "./rows.js";

/** How many messages are taken down at once, and their length. */
const AT_ONCE = 64;
const LENGTH = 1_000_000;

/** @param {number} target @param {string} uri @param {boolean} allow the domains that it asks for @returns {Promise<import("./contract.js").OpenedApp>} */
export const openApp = (target, uri, allow) => post("/api/app", { act: "open", target, uri, allow, page: location.origin });

/** @param {string} app */
export const closeApp = (app) => post("/api/app", { act: "close", app }).catch(() => null);

/** Takes messages down in their order, several at once. */
export class Notes {
  /** @param {(messages: { from: string, text: string }[]) => Promise<{ rows: (number | null)[] }>} send */
  constructor(send) {
    this.send = send;
    /** @type {{ from: string, text: string, done: (row: number) => void }[]} */
    this.waiting = [];
    /** @type {Promise<void> | null} */
    this.running = null;
  }

  /** @param {string} from @param {string} text @returns {Promise<number>} its row, or 0 */
  add(from, text) {
    const noted = new Promise((done) => { this.waiting.push({ from, text, done }); });
    this.running ??= this.run().finally(() => { this.running = null; });
    return noted;
  }

  async flushed() {
    await this.running;
  }

  async run() {
    // What comes at the same time goes at the same time.
    await null;
    while (this.waiting.length > 0) {
      let length = 0;
      let many = 0;
      while (many < Math.min(AT_ONCE, this.waiting.length) && (many === 0 || length + this.waiting[many].text.length <= LENGTH)) {
        length += this.waiting[many].text.length;
        many += 1;
      }
      const part = this.waiting.splice(0, many);
      const { rows } = await this.send(part.map(({ from, text }) => ({ from, text }))).catch(() => ({ rows: /** @type {(number | null)[]} */ ([]) }));
      part.forEach(({ done }, at) => done(rows[at] ?? 0));
    }
  }
}

/**
 * The answer to a request, when it comes: its result, or a `Refusal` with its error.
 * @param {number} row
 * @param {() => boolean} isOver whether its answer is not needed any more
 */
export async function answerOf(row, isOver) {
  let at = row;
  for (let wait = 30; !isOver(); wait = Math.min(500, wait * 2)) {
    const detail = await readRow(at);
    const status = String(detail.row[COLUMN.status]);
    const { result, error } = await plainAnswer(detail);
    if (result?.resultType === "input_required") at = (await nextRound(detail).catch(() => 0)) || at;
    else if (result !== undefined) return result;
    else if (error !== undefined) throw new Refusal(Number.isInteger(error?.code) ? error.code : -32000, String(error?.message ?? "the server failed"));
    else if (status !== "pending") throw new Refusal(-32000, `no answer: ${status}`);
    await new Promise((done) => setTimeout(done, wait));
  }
  throw new Refusal(-32000, "the app is closed");
}

/** The whole answer in a row, with plain numbers. @param {import("./contract.js").RowDetail} detail */
async function plainAnswer(detail) {
  const part = [...detail.parts].reverse().find(({ role }) => role === "response" || role === "error");
  if (!part) return { result: undefined, error: undefined };
  const text = part.cut ? await (await ask(`/api/row/${detail.row[COLUMN.n]}/part/${part.part}`)).text() : part.text ?? "";
  try {
    // In an event stream the message is in lines of `data:`.
    const json = part.cut && !text.trimStart().startsWith("{") ? text.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n") : text;
    const message = JSON.parse(json);
    return { result: message?.result, error: message?.error };
  } catch {
    return { result: undefined, error: { code: -32000, message: "the answer cannot be read" } };
  }
}

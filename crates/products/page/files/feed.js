// The feed: server-sent events read by `fetch`, which can send the token. The parser is pure; the loop reconnects by itself.

import { address, ask } from "./api.js";

/** Reads blocks of an event stream from pieces of text. Each piece is looked through once, however long its block gets. */
export class BlockReader {
  constructor() {
    /** @type {string[]} the pieces of the block that is not complete */
    this.pieces = [];
    this.lineEnded = false;
  }

  /**
   * @param {string} text
   * @returns {{ event: string, id: string, data: string }[]} the blocks that are complete
   */
  read(text) {
    /** @type {{ event: string, id: string, data: string }[]} */
    const blocks = [];
    let from = 0;
    // The empty line may be divided between two pieces.
    if (this.lineEnded && text.startsWith("\n")) from = this.end("", 1, blocks);
    for (let at = text.indexOf("\n\n", from); at >= 0; at = text.indexOf("\n\n", from)) {
      from = this.end(text.slice(from, at), at + 2, blocks);
    }
    if (from < text.length) this.pieces.push(text.slice(from));
    if (text !== "") this.lineEnded = this.pieces.length > 0 && text.endsWith("\n");
    return blocks;
  }

  /**
   * @param {string} last
   * @param {number} next
   * @param {{ event: string, id: string, data: string }[]} blocks
   * @returns {number} where the next block begins
   */
  end(last, next, blocks) {
    this.pieces.push(last);
    const block = blockOf(this.pieces.join(""));
    if (block) blocks.push(block);
    this.pieces = [];
    return next;
  }
}

/** @param {string} part */
function blockOf(part) {
  const block = { event: "message", id: "", data: "" };
  /** @type {string[]} */
  const data = [];
  for (const line of part.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event") block.event = value;
    else if (name === "id") block.id = value;
  }
  if (data.length === 0) return null;
  block.data = data.join("\n");
  return block;
}

/**
 * @typedef {object} FeedOptions
 * @property {(event: string, data: any) => void} onBlock
 * @property {(state: "open" | "lost" | "refused" | "bye", error?: any) => void} onLink
 */
export class Feed {
  /** @param {FeedOptions} options */
  constructor(options) {
    this.options = options;
    this.filter = "";
    this.seq = 0;
    this.wait = 250;
    /** @type {AbortController | null} */
    this.running = null;
  }

  /**
   * @param {string} filter
   * @param {number} seq
   */
  start(filter, seq) {
    this.stop();
    this.filter = filter;
    this.seq = seq;
    this.wait = 250;
    const running = new AbortController();
    this.running = running;
    void this.loop(running.signal);
  }

  stop() {
    this.running?.abort();
    this.running = null;
  }

  /** @param {AbortSignal} signal */
  async loop(signal) {
    while (!signal.aborted) {
      try {
        if (await this.listen(signal)) return;
      } catch (error) {
        if (signal.aborted) return;
        const refused = [400, 401, 403].includes(/** @type {any} */ (error).status);
        this.options.onLink(refused ? "refused" : "lost", error);
        if (refused) return;
      }
      await new Promise((done) => setTimeout(done, this.wait));
      this.wait = Math.min(5000, this.wait * 2);
    }
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} whether the program has ended
   */
  async listen(signal) {
    const response = await ask(address("/api/feed", { from: this.seq, filter: this.filter }), { signal });
    const body = /** @type {ReadableStream<Uint8Array>} */ (response.body);
    const texts = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
    const blocks = new BlockReader();
    this.wait = 250;
    this.options.onLink("open");
    for (;;) {
      const { done, value } = await texts.read();
      if (signal.aborted) return true;
      if (done) break;
      for (const block of blocks.read(/** @type {string} */ (value))) {
        if (block.id) this.seq = Number(block.id);
        if (block.event === "bye") {
          this.options.onLink("bye");
          return true;
        }
        this.options.onBlock(block.event, JSON.parse(block.data));
      }
    }
    this.options.onLink("lost");
    return false;
  }
}

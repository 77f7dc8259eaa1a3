// The host's side of an app (MCP Apps, SEP-1865): JSON-RPC messages with the page of a tool. What the app sends is a stranger's: it
// is copied, measured and counted before it is read. Pure but for what `host` does; knows no frame and no DOM.

export const PROTOCOL = "2026-01-26";
/** The longest message, in bytes. */
const LONGEST = 1 << 20;
/** Messages and bytes for each second, and how many at once. */
const RATE = 50;
const BURST = 200;
const BYTES_RATE = 1 << 20;
const BYTES_BURST = 4 << 20;
/** After how many messages that are not taken the app is closed. */
const PATIENCE = 1000;
/** How many requests of an app may be open. */
const OPEN = 16;
/** How long an app may take to say goodbye, in ms. */
const GOODBYE = 500;

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INVALID_REQUEST = -32600;
/** What the specification of apps uses for what is refused. */
const REFUSED = -32000;

/** Something that refills with time. */
export class Allowance {
  /** @param {number} rate for each second @param {number} most @param {() => number} now ms */
  constructor(rate, most, now) {
    this.rate = rate;
    this.most = most;
    this.now = now;
    this.left = most;
    this.at = now();
  }

  /** @param {number} amount */
  take(amount) {
    const now = this.now();
    this.left = Math.min(this.most, this.left + ((now - this.at) / 1000) * this.rate);
    this.at = now;
    if (this.left < amount) return false;
    this.left -= amount;
    return true;
  }
}

/** An answer that is an error. */
export class Refusal extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** The address of the app of a tool; empty if it has none. @param {any} tool */
export function appOf(tool) {
  const uri = tool?._meta?.ui?.resourceUri ?? tool?._meta?.["ui/resourceUri"];
  return typeof uri === "string" && uri.startsWith("ui://") ? uri : "";
}

/** Whether `who` may call a tool: `app` or `model`. @param {any} tool @param {string} who */
export function isVisibleTo(tool, who) {
  const visibility = tool?._meta?.ui?.visibility;
  return visibility === undefined || (Array.isArray(visibility) && visibility.includes(who));
}

/**
 * Whether a text of JSON this long can hold it. A copy keeps what stands at several places once, and empty places of a list not at
 * all: as text, a few hundred bytes can be gigabytes.
 * @param {any} data
 */
function mayFit(data) {
  let left = LONGEST;
  const open = [data];
  while (open.length > 0) {
    const one = open.pop();
    left -= 1;
    if (typeof one === "string") left -= one.length;
    if (Array.isArray(one)) {
      left -= one.length;
      if (left < 0) return false;
      for (const item of one) open.push(item);
    } else if (typeof one === "object" && one !== null) {
      // Bytes, texts as objects and the like are no JSON.
      if (Object.getPrototypeOf(one) !== Object.prototype) return false;
      for (const name of Object.keys(one)) {
        left -= name.length + 1;
        if (left < 0) return false;
        open.push(one[name]);
      }
    }
    if (left < 0) return false;
  }
  return true;
}

/**
 * A message as its JSON text; `null` if it cannot be JSON or is too long.
 * @param {any} data
 */
export function textOf(data) {
  try {
    if (!mayFit(data)) return null;
    const text = JSON.stringify(data);
    return typeof text === "string" && text.length <= LONGEST && new TextEncoder().encode(text).length <= LONGEST ? text : null;
  } catch {
    // A cycle, a big integer, or nested too deeply.
    return null;
  }
}

/** @param {any} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * @typedef {object} Host
 * @property {(message: any) => void} post to the app
 * @property {(from: "app" | "host", text: string) => Promise<number>} note takes a message down; its row, or 0
 * @property {() => any} context `hostContext`
 * @property {any} domains approved domains
 * @property {() => any[]} tools as they were listed
 * @property {(tool: any, given: any) => Promise<boolean>} mayCall
 * @property {(method: string, params: any, row: number) => Promise<any>} request to the server; its result, or throws a `Refusal`
 * @property {(url: string) => Promise<boolean>} openLink asks the user and opens it
 * @property {(what: string, said: any) => void} said something for people: `message`, `context`, `log`
 * @property {(height: number) => void} resize
 * @property {(why: string) => void} dropped a message was not taken
 * @property {(why: string) => void} expelled the app was closed for what it sent
 * @property {string} version
 */
export class Bridge {
  /** @param {Host} host @param {() => number} [now] ms */
  constructor(host, now = () => performance.now()) {
    this.host = host;
    this.messages = new Allowance(RATE, BURST, now);
    this.bytes = new Allowance(BYTES_RATE, BYTES_BURST, now);
    this.dropped = 0;
    this.open = 0;
    this.greeted = false;
    this.ready = false;
    this.closed = false;
    /** What the app gets when it is ready. @type {any[]} */
    this.waiting = [];
    /** @type {Map<number, () => void>} */
    this.asked = new Map();
  }

  /** A message of the app. @param {any} data */
  receive(data) {
    if (this.closed) return;
    if (!this.messages.take(1)) return this.drop("more messages than it may send");
    const text = textOf(data);
    if (text === null) return this.drop("a message that is not JSON, or longer than 1 MiB");
    if (!this.bytes.take(text.length)) return this.drop("more bytes than it may send");
    const message = JSON.parse(text);
    if (!isObject(message) || message.jsonrpc !== "2.0") return this.drop("a message that is not JSON-RPC 2.0");
    const row = this.host.note("app", text);
    if (typeof message.method !== "string") return this.asked.get(message.id)?.();
    if (typeof message.id === "string" || typeof message.id === "number") return void this.answer(message, row);
    if (message.id === undefined) return this.noticed(message.method, isObject(message.params) ? message.params : {});
    return this.drop("a request whose id is not a text or a number");
  }

  /** @param {string} why */
  drop(why) {
    this.dropped += 1;
    this.host.dropped(why);
    if (this.dropped < PATIENCE) return;
    this.closed = true;
    this.host.expelled(why);
  }

  /** @param {any} message */
  send(message) {
    if (this.closed) return;
    const whole = { jsonrpc: "2.0", ...message };
    const text = JSON.stringify(whole);
    void this.host.note("host", text);
    this.host.post(JSON.parse(text));
  }

  /** Sends a notification when the app is ready. @param {string} method @param {any} params */
  notify(method, params) {
    if (this.ready) this.send({ method, params });
    else this.waiting.push({ method, params });
  }

  /** What of the context changed. @param {any} context */
  changed(context) {
    if (this.ready) this.send({ method: "ui/notifications/host-context-changed", params: context });
  }

  /** Asks the app to end, and waits a little. @param {string} reason */
  async goodbye(reason) {
    if (this.ready && !this.closed) {
      const answered = new Promise((done) => this.asked.set(0, () => done(undefined)));
      this.send({ id: 0, method: "ui/resource-teardown", params: { reason } });
      await Promise.race([answered, new Promise((done) => setTimeout(done, GOODBYE))]);
    }
    this.closed = true;
  }

  /** @param {any} message @param {Promise<number>} row */
  async answer({ id, method, params }, row) {
    if (this.open >= OPEN) return this.send({ id, error: { code: REFUSED, message: `more than ${OPEN} requests are open` } });
    this.open += 1;
    try {
      const result = await this.act(method, params === undefined ? {} : params, row);
      this.send({ id, result });
    } catch (error) {
      const { code, message } = error instanceof Refusal ? error : { code: REFUSED, message: "the host failed" };
      this.send({ id, error: { code, message } });
    } finally {
      this.open -= 1;
    }
  }

  /** @param {string} method @param {any} params @param {Promise<number>} row */
  async act(method, params, row) {
    if (!isObject(params)) throw new Refusal(INVALID_PARAMS, "params must be an object");
    if (method === "ping") return {};
    if (method === "ui/initialize") return this.greet();
    if (!this.greeted) throw new Refusal(INVALID_REQUEST, "ui/initialize comes first");
    switch (method) {
      case "tools/call": return this.call(params, row);
      case "resources/read":
        if (typeof params.uri !== "string") throw new Refusal(INVALID_PARAMS, "uri must be a string");
        return this.host.request(method, { uri: params.uri }, await row);
      case "ui/open-link": return this.openLink(params.url);
      case "ui/message":
        this.host.said("message", { role: params.role, content: params.content });
        return {};
      case "ui/update-model-context":
        this.host.said("context", { content: params.content, structuredContent: params.structuredContent });
        return {};
      case "ui/request-display-mode": return { mode: "inline" };
      default: throw new Refusal(METHOD_NOT_FOUND, "Method not found");
    }
  }

  greet() {
    this.greeted = true;
    return {
      protocolVersion: PROTOCOL,
      hostInfo: { name: "proof inspect", version: this.host.version },
      hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {}, logging: {}, message: { text: {} }, sandbox: { csp: this.host.domains } },
      hostContext: this.host.context(),
    };
  }

  /** @param {any} params @param {Promise<number>} row */
  async call(params, row) {
    const tool = this.host.tools().find((one) => typeof params.name === "string" && one?.name === params.name);
    if (!tool) throw new Refusal(INVALID_PARAMS, "Unknown tool");
    if (!isVisibleTo(tool, "app")) throw new Refusal(INVALID_PARAMS, "The tool is not for apps");
    const given = params.arguments === undefined ? {} : params.arguments;
    if (!isObject(given)) throw new Refusal(INVALID_PARAMS, "arguments must be an object");
    if (!(await this.host.mayCall(tool, given))) throw new Refusal(REFUSED, "The user refused the call");
    return this.host.request("tools/call", { name: tool.name, arguments: given }, await row);
  }

  /** @param {any} address */
  async openLink(address) {
    const url = typeof address === "string" && address.length <= 2000 && URL.canParse(address) ? new URL(address) : null;
    if (!url || !["https:", "http:"].includes(url.protocol)) throw new Refusal(REFUSED, "Invalid URL");
    if (!(await this.host.openLink(url.href))) throw new Refusal(REFUSED, "Link opening denied by user");
    return {};
  }

  /** @param {string} method @param {any} params */
  noticed(method, params) {
    if (method === "ui/notifications/initialized" && this.greeted && !this.ready) {
      this.ready = true;
      for (const message of this.waiting.splice(0)) this.send(message);
    } else if (method === "ui/notifications/size-changed" && Number.isFinite(params.height)) {
      this.host.resize(params.height);
    } else if (method === "notifications/message") {
      this.host.said("log", { level: params.level, content: params.data });
    }
  }
}

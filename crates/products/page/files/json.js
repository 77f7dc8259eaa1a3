// JSON as text and as values, without the losses of `JSON.parse` where the browser allows it. Pure.

/** A number that does not survive as a JavaScript number: its text is kept. */
export class ExactNumber {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

/**
 * @param {string} text
 * @returns {any} throws a `SyntaxError`
 */
export function parse(text) {
  /** @type {any} */
  const reviver = (/** @type {string} */ _key, /** @type {any} */ value, /** @type {{source?: string}} */ context) => {
    const source = context?.source;
    return typeof value === "number" && source !== undefined && !same(value, source) ? new ExactNumber(source) : value;
  };
  return JSON.parse(text, reviver);
}

/**
 * Whether a number says what its text says: `1e3` and `1000` do, `9007199254740993` does not.
 * @param {number} value
 * @param {string} source
 */
function same(value, source) {
  if (!Number.isFinite(value)) return false;
  return digits(String(value)) === digits(source);
}

/** @param {string} text */
function digits(text) {
  const [mantissa, exponent = "0"] = text.toLowerCase().split("e");
  const sign = mantissa.startsWith("-") ? "-" : "";
  const [whole, fraction = ""] = mantissa.replace("-", "").split(".");
  const all = (whole + fraction).replace(/^0+/, "");
  const kept = all.replace(/0+$/, "");
  if (kept === "") return "0";
  return `${sign}${kept}e${Number(exponent) - fraction.length + (all.length - kept.length)}`;
}

/**
 * @param {string} text
 * @returns {{ value: any, problem: null } | { value: undefined, problem: string }}
 */
export function tryParse(text) {
  try {
    return { value: parse(text), problem: null };
  } catch (error) {
    return { value: undefined, problem: placeOf(text, /** @type {Error} */ (error).message) };
  }
}

/**
 * The engine's message with line and column instead of a position.
 * @param {string} text
 * @param {string} message
 */
function placeOf(text, message) {
  const at = /at position (\d+)/.exec(message);
  const short = message.replace(/ at position \d+.*/s, "").replace(/, ?"?[^]*?" is not valid JSON$/, "");
  if (!at) return `not JSON: ${short}`;
  const before = text.slice(0, Number(at[1])).split("\n");
  return `not JSON: ${short}, line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

/**
 * Text of a value, exact numbers as they came.
 * @param {any} value
 * @param {number} [indent]
 * @returns {string}
 */
export function text(value, indent = 2) {
  return write(value, indent, "");
}

/**
 * @param {any} value
 * @param {number} indent
 * @param {string} margin
 * @returns {string}
 */
function write(value, indent, margin) {
  if (value instanceof ExactNumber) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const inner = margin + " ".repeat(indent);
  const line = indent > 0 ? `\n${inner}` : "";
  const end = indent > 0 ? `\n${margin}` : "";
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[${line}${value.map((item) => write(item, indent, inner)).join(`,${line}`)}${end}]`;
  }
  const members = Object.keys(value).filter((key) => value[key] !== undefined);
  if (members.length === 0) return "{}";
  const colon = indent > 0 ? ": " : ":";
  const parts = members.map((key) => `${JSON.stringify(key)}${colon}${write(value[key], indent, inner)}`);
  return `{${line}${parts.join(`,${line}`)}${end}}`;
}

/**
 * A text as indented JSON, or as it is.
 * @param {string} raw
 */
export function pretty(raw) {
  const { value, problem } = tryParse(raw);
  if (problem !== null) return raw;
  try {
    return text(value);
  } catch {
    // Nested too deeply for this function: the text as it came is still right.
    return raw;
  }
}

/**
 * A JSON Pointer from the keys on the way.
 * @param {(string | number)[]} path
 */
export const pointer = (path) => path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/**
 * Whether two values are the same JSON.
 * @param {any} a
 * @param {any} b
 */
export const equal = (a, b) => text(a, 0) === text(b, 0);

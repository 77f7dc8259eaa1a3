// Text for people, made from values. Pure: no DOM, no state.

// Controls, line separators, and every character that has neither ink nor width of its own. U+FE0F after a picture only says how
// the picture looks.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u2800\ufff9-\ufffb]|(?!\ufe0f)\p{Default_Ignorable_Code_Point}|[\u{e0000}-\u{e0fff}]|(?<![\p{Extended_Pictographic}0-9#*])\ufe0f/gu;
const CONTROL_BUT_LINES = new RegExp(CONTROL.source.replace("\\u0000-\\u001f", "\\u0000-\\u0008\\u000b-\\u001f"), "gu");

/** @param {string} char */
const escaped = (char) => {
  const code = /** @type {number} */ (char.codePointAt(0));
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
};

/**
 * One line of a stranger's text: characters that hide, turn or break text are shown as escapes.
 * @param {unknown} text
 * @param {number} [most] length after which the text is cut
 */
export function visible(text, most = 2000) {
  const whole = typeof text === "string" ? text : text === undefined || text === null ? "" : String(text);
  const cut = whole.length > most ? `${cutAt(whole, most)}…` : whole;
  return cut.replace(CONTROL, escaped);
}

/**
 * A name that can be seen even where it has no ink.
 * @param {unknown} text
 * @param {number} [most]
 */
export function named(text, most = 200) {
  const shown = visible(text, most);
  if (shown.trim() !== "") return shown;
  return typeof text === "string" && text !== "" ? `"${shown}"` : "(no name)";
}

/**
 * As `visible`, but lines and tabs stay.
 * @param {unknown} text
 * @param {number} [most]
 */
export function visibleLines(text, most = 200_000) {
  const whole = typeof text === "string" ? text : text === undefined || text === null ? "" : String(text);
  const cut = whole.length > most ? `${cutAt(whole, most)}…` : whole;
  return cut.replaceAll("\r\n", "\n").replace(CONTROL_BUT_LINES, escaped);
}

/**
 * The beginning of a text, never half of a surrogate pair.
 * @param {string} text
 * @param {number} at
 */
function cutAt(text, at) {
  const code = text.charCodeAt(at - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? at - 1 : at);
}

/**
 * @param {number | null | undefined} ms
 */
export function duration(ms) {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "";
  if (ms < 1) return `${Math.max(0, ms * 1000).toFixed(0)} µs`;
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.floor((ms - minutes * 60_000) / 1000)} s`;
}

/**
 * @param {number | null | undefined} bytes
 */
export function size(bytes) {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return "";
  if (bytes < 1000) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes;
  let unit = -1;
  do {
    value /= 1024;
    unit += 1;
  } while (value >= 1000 && unit < units.length - 1);
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${units[unit]}`;
}

/**
 * The time of day, local, with milliseconds.
 * @param {number | null | undefined} ms since 1970
 */
export function clock(ms) {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "";
  const date = new Date(ms);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${time}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

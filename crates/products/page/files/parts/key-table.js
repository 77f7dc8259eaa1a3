// Which key does what, for any page: a table of commands is the help, the palette and the dispatcher at once. Pure.

/**
 * @typedef {object} Command
 * @property {string} id
 * @property {string} label
 * @property {string[]} keys
 * @property {string} when where it applies; the page knows the words
 * @property {string} group
 */

/**
 * @typedef {{ key: string, ctrlKey?: boolean, metaKey?: boolean, altKey?: boolean, shiftKey?: boolean }} Pressed
 * @param {Pressed} event
 */
export function keyOf(event) {
  const control = event.ctrlKey || event.metaKey;
  const held = control ? `Ctrl+${event.shiftKey && event.key === "Enter" ? "Shift+" : ""}` : "";
  const key = held ? event.key.toLowerCase().replace("enter", "Enter") : event.key;
  return event.shiftKey && key === " " ? "Shift+ " : held + key;
}

/**
 * @typedef {object} Place where the key was pressed
 * @property {boolean} typing in a text field
 * @property {boolean} pressable on a button or link, which Enter and the space bar press
 * @property {boolean} inList
 * @property {string} view
 * @property {boolean} dialog whether a dialog is open
 * @property {boolean} letters whether single letters are keys
 *
 * @param {Pressed} event
 * @param {Place} place
 * @param {Command[]} commands
 * @param {(when: string, place: Place) => boolean} applies
 * @returns {string | null} the id of a command
 */
export function commandIn(event, place, commands, applies) {
  if (event.altKey) return null;
  const key = keyOf(event);
  if (place.dialog) return null;
  if (place.typing && !key.startsWith("Ctrl+") && key !== "Escape") return null;
  if (key.length === 1 && key !== " " && !place.letters) return null;
  if (place.pressable && (key === "Enter" || key === " ")) return null;
  const found = commands.find((command) => command.keys.includes(key) && applies(command.when, place));
  return found ? found.id : null;
}

/**
 * How a key is written in the help.
 * @param {string} key
 */
export function keyLabel(key) {
  const names = /** @type {Record<string, string>} */ ({
    " ": "Space", "Shift+ ": "Shift+Space", ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", PageDown: "PgDn", PageUp: "PgUp",
    "Ctrl+k": "Ctrl+K", "Ctrl+j": "Ctrl+J", "Ctrl+s": "Ctrl+S",
  });
  return names[key] ?? key;
}

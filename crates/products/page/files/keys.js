// Which key does what. The table is the help, the palette and the dispatcher at once. `keyOf` and `commandFor` are pure.

import { commandIn } from "./parts/key-table.js";

export { keyLabel, keyOf } from "./parts/key-table.js";

/**
 * @typedef {"anywhere" | "list" | "traffic" | "call" | "tasks" | "compare"} When
 * @typedef {import("./parts/key-table.js").Place} Place
 */

/** @type {import("./parts/key-table.js").Command[]} */
export const COMMANDS = [
  { id: "next", label: "Next message or item", keys: ["j", "ArrowDown"], when: "list", group: "Move" },
  { id: "previous", label: "Previous message or item", keys: ["k", "ArrowUp"], when: "list", group: "Move" },
  { id: "page-down", label: "A page further", keys: ["PageDown", " "], when: "list", group: "Move" },
  { id: "page-up", label: "A page back", keys: ["PageUp", "Shift+ "], when: "list", group: "Move" },
  { id: "first", label: "First", keys: ["g", "Home"], when: "list", group: "Move" },
  { id: "last", label: "Last", keys: ["G", "End"], when: "list", group: "Move" },
  { id: "open", label: "Show the details", keys: ["Enter"], when: "list", group: "Move" },
  { id: "back", label: "Back", keys: ["Escape"], when: "anywhere", group: "Move" },
  { id: "next-finding", label: "Next message with a finding", keys: ["]"], when: "traffic", group: "Move" },
  { id: "previous-finding", label: "Previous message with a finding", keys: ["["], when: "traffic", group: "Move" },
  { id: "filter", label: "Filter", keys: ["/"], when: "anywhere", group: "Read" },
  { id: "follow", label: "Follow new messages", keys: ["f"], when: "traffic", group: "Read" },
  { id: "timeline", label: "Show or hide the timeline", keys: ["w"], when: "traffic", group: "Read" },
  { id: "copy", label: "Copy the message", keys: ["y"], when: "traffic", group: "Read" },
  { id: "mark", label: "Mark for a test", keys: ["v"], when: "traffic", group: "Do" },
  { id: "to-test", label: "Write marked messages as a test", keys: ["t"], when: "traffic", group: "Do" },
  { id: "edit", label: "Edit and resend", keys: ["e"], when: "traffic", group: "Do" },
  { id: "resend", label: "Resend", keys: ["r"], when: "traffic", group: "Do" },
  { id: "base", label: "Compare with this message", keys: ["m"], when: "traffic", group: "Do" },
  { id: "compare", label: "Show the difference", keys: ["="], when: "traffic", group: "Do" },
  { id: "call", label: "Call a tool", keys: ["c"], when: "anywhere", group: "Do" },
  { id: "send", label: "Send", keys: ["Ctrl+Enter"], when: "call", group: "Do" },
  { id: "call-task", label: "Start as a task", keys: ["Ctrl+Shift+Enter"], when: "call", group: "Do" },
  { id: "twin", label: "Form or JSON", keys: ["Ctrl+j"], when: "call", group: "Do" },
  { id: "open-app", label: "Open or close the app of the tool", keys: ["A"], when: "anywhere", group: "Do" },
  { id: "answer", label: "Answer the next question of the server or of an app", keys: ["a"], when: "anywhere", group: "Do" },
  { id: "poll-task", label: "Poll the task", keys: ["p"], when: "tasks", group: "Tasks" },
  { id: "task-result", label: "Read the result of the task", keys: ["o"], when: "tasks", group: "Tasks" },
  { id: "cancel-task", label: "Cancel the task", keys: ["x"], when: "tasks", group: "Tasks" },
  { id: "list-tasks", label: "List the server's tasks", keys: ["l"], when: "tasks", group: "Tasks" },
  { id: "changes", label: "What changed since the last connection", keys: ["D"], when: "anywhere", group: "Compare" },
  { id: "swap", label: "Swap the two sides", keys: ["s"], when: "compare", group: "Compare" },
  { id: "again", label: "Read both sides again", keys: ["u"], when: "compare", group: "Compare" },
  { id: "diagnose", label: "Examine the connection", keys: ["d"], when: "anywhere", group: "Do" },
  { id: "authorize", label: "Get a token step by step", keys: ["O"], when: "anywhere", group: "Do" },
  { id: "save", label: "Save the trace", keys: ["Ctrl+s"], when: "anywhere", group: "Do" },
  { id: "palette", label: "Command palette", keys: ["Ctrl+k", ":"], when: "anywhere", group: "Page" },
  { id: "help", label: "Keys", keys: ["?"], when: "anywhere", group: "Page" },
  { id: "theme", label: "Light or dark", keys: ["T"], when: "anywhere", group: "Page" },
  { id: "letters", label: "Letters as keys on or off", keys: [], when: "anywhere", group: "Page" },
  ...["Traffic", "Tools", "Resources", "Prompts", "Findings", "Server", "Questions", "Log", "Tasks", "Compare"].map((label, at) => ({
    id: `view-${label.toLowerCase()}`,
    label: `Go to ${label}`,
    keys: [String((at + 1) % 10)],
    when: /** @type {When} */ ("anywhere"),
    group: "Views",
  })),
];

/**
 * @param {import("./parts/key-table.js").Pressed} event
 * @param {Place} place
 * @returns {string | null} the id of a command
 */
export const commandFor = (event, place) => commandIn(event, place, COMMANDS, applies);

/**
 * @param {string} when one of `When`
 * @param {Place} place
 */
function applies(when, place) {
  if (when === "anywhere") return true;
  if (when === "traffic" || when === "tasks" || when === "compare") return place.view === when;
  if (when === "call") return true;
  // Arrows, Home, Space and the like scroll where no list has the focus; letters always mean the list of the view.
  return place.inList || place.view === "traffic" || !place.typing;
}

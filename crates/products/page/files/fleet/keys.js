// Which key does what on the page of the fleet. The table is the help, the palette and the dispatcher at once. Pure.

import { commandIn } from "../parts/key-table.js";

/** @type {import("../parts/key-table.js").Command[]} */
export const COMMANDS = [
  { id: "next", label: "Next server, gate or finding", keys: ["j", "ArrowDown"], when: "list", group: "Move" },
  { id: "previous", label: "Previous server, gate or finding", keys: ["k", "ArrowUp"], when: "list", group: "Move" },
  { id: "page-down", label: "A page further", keys: ["PageDown", " "], when: "table", group: "Move" },
  { id: "page-up", label: "A page back", keys: ["PageUp", "Shift+ "], when: "table", group: "Move" },
  { id: "first", label: "First server", keys: ["g", "Home"], when: "table", group: "Move" },
  { id: "last", label: "Last server", keys: ["G", "End"], when: "table", group: "Move" },
  { id: "open", label: "Open: server, gate, finding, evidence", keys: ["Enter"], when: "table", group: "Move" },
  { id: "back", label: "Back", keys: ["Escape"], when: "anywhere", group: "Move" },
  { id: "filter", label: "Filter", keys: ["/"], when: "anywhere", group: "Read" },
  { id: "sort", label: "Sort by the next column", keys: ["s"], when: "anywhere", group: "Read" },
  { id: "reverse", label: "Reverse the order", keys: ["S"], when: "anywhere", group: "Read" },
  { id: "view-gates", label: "Gates of the server", keys: ["1"], when: "anywhere", group: "Read" },
  { id: "view-history", label: "History of the server", keys: ["2"], when: "anywhere", group: "Read" },
  { id: "view-waivers", label: "Waivers of the server", keys: ["3"], when: "anywhere", group: "Read" },
  { id: "view-playbook", label: "Playbook of the server", keys: ["4"], when: "anywhere", group: "Read" },
  { id: "inspect", label: "Open the trace of the finding in the inspector", keys: ["i"], when: "anywhere", group: "Read" },
  { id: "run", label: "Run this server", keys: ["r"], when: "anywhere", group: "Run" },
  { id: "run-changed", label: "Run what changed: start every server once", keys: ["R"], when: "anywhere", group: "Run" },
  { id: "run-due", label: "Run what is due: servers with a gate without a result that holds", keys: ["d"], when: "anywhere", group: "Run" },
  { id: "run-shown", label: "Run the servers that the filter leaves", keys: ["f"], when: "anywhere", group: "Run" },
  { id: "cancel", label: "Cancel the run", keys: ["x"], when: "anywhere", group: "Run" },
  { id: "log", label: "List what came of the run, or hide it", keys: ["l"], when: "anywhere", group: "Run" },
  { id: "print", label: "Print a report of what is shown", keys: ["p"], when: "anywhere", group: "Keep" },
  { id: "save", label: "Save the report of the gate", keys: ["Ctrl+s"], when: "anywhere", group: "Keep" },
  { id: "palette", label: "Command palette", keys: ["Ctrl+k", ":"], when: "anywhere", group: "Page" },
  { id: "help", label: "Keys", keys: ["?"], when: "anywhere", group: "Page" },
  { id: "theme", label: "Light or dark", keys: ["T"], when: "anywhere", group: "Page" },
  { id: "letters", label: "Letters as keys on or off", keys: [], when: "anywhere", group: "Page" },
];

/**
 * @param {import("../parts/key-table.js").Pressed} event
 * @param {import("../parts/key-table.js").Place} place `view` says where the focus is: table or detail
 */
export const commandFor = (event, place) => commandIn(event, place, COMMANDS, applies);

/**
 * @param {string} when
 * @param {import("../parts/key-table.js").Place} place
 */
function applies(when, place) {
  if (when === "anywhere") return true;
  if (place.typing) return false;
  return when === "list" || place.view === "table";
}

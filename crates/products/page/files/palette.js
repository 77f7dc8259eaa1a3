// The command palette: every action, view, tool, prompt and resource by a few letters of its name.

import { html, useMemo } from "./html.js";
import { COMMANDS, keyLabel } from "./keys.js";
import { Chooser } from "./parts/chooser.js";
import { store } from "./actions.js";
import { targetOf } from "./state.js";

export { ranked } from "./parts/chooser.js";

/** @typedef {import("./parts/chooser.js").Entry} Entry */

/** @param {{ state: import("./state.js").State, run: (command: string) => void }} props */
export function Palette({ state, run }) {
  const entries = useMemo(() => entriesOf(state, run), [state.lists, state.place.target]);
  const close = () => store.dispatch({ type: "dialog", dialog: null });
  return html`<${Chooser} entries=${entries} close=${close} placeholder="A command, tool, prompt or resource" />`;
}

/**
 * @param {import("./state.js").State} state
 * @param {(command: string) => void} run
 * @returns {Entry[]}
 */
function entriesOf(state, run) {
  const skipped = ["palette", "next", "previous", "page-down", "page-up", "open", "back"];
  const commands = COMMANDS.filter(({ id }) => !skipped.includes(id)).map(({ id, label, keys, group }) => ({
    id, label, kind: group, keys: keys[0] ? keyLabel(keys[0]) : "", run: () => run(id),
  }));
  const target = targetOf(state)?.target;
  const named = (/** @type {string} */ what, /** @type {any} */ view, /** @type {string} */ kind, /** @type {(item: any) => any} */ nameOf, /** @type {(at: number) => string} */ idOf) =>
    (state.lists[`${target}/${what}`]?.items ?? []).map((item, index) => ({
      id: `${what}-${index}`, label: String(nameOf(item) ?? ""), kind, keys: "", run: () => store.dispatch({ type: "go", view, item: idOf(index) }),
    }));
  return [
    ...commands,
    ...named("tools", "tools", "tool", (item) => item?.name, (index) => `${index + 1}:`),
    ...named("prompts", "prompts", "prompt", (item) => item?.name, (index) => `${index + 1}:`),
    ...named("resources", "resources", "resource", (item) => item?.uri, (index) => `r${index + 1}`),
    ...named("templates", "resources", "template", (item) => item?.uriTemplate, (index) => `t${index + 1}`),
  ];
}

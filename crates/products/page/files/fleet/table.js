// The table of servers: filter, sorting, a list of any length.

import { html, useEffect, useLayoutEffect, useMemo, useRef } from "../html.js";
import { VirtualList } from "../parts/list.js";
import { Filter } from "../parts/filter.js";
import { Button } from "../parts/button.js";
import { complete, filter, readServer, store } from "./actions.js";
import { NAME, paintRow } from "./rows.js";
import { ordered } from "./state.js";

const ROW = 24;

/** What a table is sorted by, in the order of its columns. @param {string[]} gates */
export const columnsOf = (gates) => ["server", "stage", "trend", ...gates, "score", "owner", "age"];

/** @param {string} column from nothing to upwards to downwards to nothing */
export function sortBy(column) {
  const { sort } = store.state.place;
  store.dispatch({ type: "sort", sort: sort === column ? `-${column}` : sort === `-${column}` ? "" : column });
}

/**
 * @param {{ state: import("./state.js").State, list: { current: VirtualList | null }, run: (command: string) => void }} props
 */
export function Table({ state, list, run }) {
  const { place, fleet } = state;
  const gates = fleet?.gates ?? [];
  const shown = useMemo(() => ordered(state.rows, state.matched, place.sort, gates), [state.rows, state.matched, place.sort, gates.length]);
  const node = useRef(/** @type {HTMLElement | null} */ (null));
  const now = useRef({ shown, fleet });
  now.current = { shown, fleet };
  useLayoutEffect(() => {
    if (!fleet || !node.current) return;
    const made = new VirtualList({
      label: "Servers", rowHeight: ROW, columns: [...columnsOf(gates), "blocked"],
      paint: (row, index) => {
        const { shown, fleet } = now.current;
        if (shown[index] && fleet) paintRow(row, shown[index], fleet);
      },
      onSelect: (index) => {
        store.dispatch({ type: "select", at: now.current.shown[index]?.[NAME] ?? "" });
        void readServer();
      },
      onOpen: () => {
        store.dispatch({ type: "open", open: true });
        void readServer();
      },
    });
    list.current = made;
    node.current.append(made.node);
    node.current.style.setProperty("--gates", String(gates.length));
    // The headings end where the rows end, whatever a scroll bar is wide.
    const align = () => node.current?.style.setProperty("--bar", `${made.node.offsetWidth - made.node.clientWidth}px`);
    const observer = new ResizeObserver(align);
    observer.observe(made.node);
    return () => {
      observer.disconnect();
      list.current = null;
      made.destroy();
    };
  }, [fleet !== null, gates.join()]);
  useLayoutEffect(() => {
    const made = list.current;
    if (!made) return;
    made.setCount(shown.length);
    made.choose(shown.findIndex((row) => row[NAME] === place.at), true);
    made.plan();
  }, [shown, place.at, fleet !== null]);
  useEffect(() => {
    const timer = setInterval(() => list.current?.plan(), 60_000);
    return () => clearInterval(timer);
  }, []);
  const all = fleet?.servers ?? 0;
  const running = fleet?.run?.running ?? false;
  return html`
    <div class="toolbar">
      <${Filter} value=${place.q} problem=${state.filterProblem} placeholder="Filter: gate:scanned is:failed owner:ada stage:<6" complete=${complete} onChange=${filter} />
      <span class="amount">${shown.length === all ? `${all.toLocaleString("en")} servers` : `${shown.length.toLocaleString("en")} of ${all.toLocaleString("en")}`}</span>
      ${running ? html`<${Button} label="Cancel the run" keys="x" onClick=${() => run("cancel")} />` : html`
        <${Button} label="Run server" keys="r" disabled=${!place.at} onClick=${() => run("run")} />
        <${Button} label="Run changed" keys="R" title="Start every server once, compute what changed" onClick=${() => run("run-changed")} />
        <${Button} label="Run due" keys="d" title="Only servers with a gate without a result that holds" onClick=${() => run("run-due")} />`}
    </div>
    <div class="servers" ref=${node}>
      <div class="heads" role="group" aria-label="Sort">${columnsOf(gates).map((column) => {
        const by = place.sort === column ? "↑" : place.sort === `-${column}` ? "↓" : "";
        return html`<button key=${column} type="button" class=${gates.includes(column) ? "head-gate" : `head-${column}`} aria-pressed=${String(by !== "")}
          title=${`Sort by ${column}`} onClick=${() => sortBy(column)}><span>${column}</span>${by}</button>`;
      })}</div>
      ${fleet && shown.length === 0 && html`<p class="nothing">${all === 0 ? "The fleet has no servers." : html`No server fits. <button type="button" class="link" onClick=${() => filter("")}>Show all</button>`}</p>`}
    </div>`;
}

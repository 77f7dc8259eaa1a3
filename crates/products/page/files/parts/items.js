// A list of named things (tools, resources, prompts, findings) with a search box: virtual, so that 5,000 tools cost what 30 do.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { VirtualList, cells, write } from "./list.js";
import { count, named, visible } from "../format.js";

/**
 * @typedef {{ id: string, name: string, note: string, badge?: string, tone?: string, text?: string }} Item
 *
 * @param {{ label: string, items: Item[], selected: string, onSelect: (id: string) => void, empty: any, list: { current: VirtualList | null } }} props
 */
export function ItemList({ label, items, selected, onSelect, empty, list }) {
  const [search, setSearch] = useState("");
  const shown = useMemo(() => matching(items, search), [items, search]);
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const now = useRef({ shown, onSelect });
  now.current = { shown, onSelect };
  useLayoutEffect(() => {
    const made = new VirtualList({
      label,
      rowHeight: 24,
      columns: ["name", "about", "kind"],
      paint: (row, index) => paint(row, now.current.shown[index]),
      onSelect: (index) => {
        const item = now.current.shown[index];
        if (item) now.current.onSelect(item.id);
      },
    });
    host.current?.append(made.node);
    list.current = made;
    return () => {
      made.destroy();
      list.current = null;
    };
  }, []);
  useEffect(() => {
    const made = list.current;
    if (!made) return;
    made.setCount(shown.length);
    const at = shown.findIndex(({ id }) => id === selected);
    made.choose(at, true);
    made.plan();
  }, [shown, selected]);
  useEffect(() => list.current?.reveal(list.current.selected), [selected]);
  const key = (/** @type {any} */ event) => {
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    event.preventDefault();
    // By what stands in the box now: the list follows a frame later.
    const found = matching(items, event.target.value);
    if (found.length > 0 && (event.key === "Enter" || !found.some(({ id }) => id === selected))) onSelect(found[0].id);
    list.current?.node.focus();
  };
  return html`
    <div class="items">
      <div class="search">
        <input type="search" data-filter value=${search} placeholder=${`Search ${count(items.length, label.toLowerCase().replace(/s$/, ""))}`}
          aria-label=${`Search ${label.toLowerCase()}`} onInput=${(/** @type {any} */ event) => setSearch(event.target.value)}
        onKeyDown=${key} />
      </div>
      <div class="items-list" ref=${host}></div>
      ${shown.length === 0 && html`<div class="nothing">${items.length === 0 ? empty : "Nothing matches the search."}</div>`}
    </div>`;
}

/**
 * @param {Item[]} items
 * @param {string} search
 */
function matching(items, search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  return items.filter(({ name, note, text = "" }) => {
    const whole = `${name} ${note} ${text}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/**
 * @param {HTMLElement} row
 * @param {Item | undefined} item
 */
function paint(row, item) {
  const [name, note, badge] = cells(row, ["item-name", "item-note", "item-badge"]);
  write(name, item ? named(item.name) : "");
  write(note, visible(item?.note, 200));
  write(badge, item?.badge ?? "");
  badge.className = `item-badge ${item?.tone ?? ""}`;
}

// A dialog above the page, and the table of keys that every page shows in one. Focus returns where it was.

import { html, useLayoutEffect, useMemo, useRef } from "../html.js";
import { Button } from "./button.js";
import { keyLabel } from "./key-table.js";

/** @param {{ title: string, bare?: boolean, close: () => void, children?: any }} props */
export function Modal({ title, bare = false, close, children }) {
  const node = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const before = document.activeElement;
    node.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return html`
    <dialog ref=${node} aria-label=${title} class=${bare ? "bare" : ""} onClose=${close}
      onClick=${(/** @type {any} */ event) => { if (event.target === node.current) close(); }}>
      ${!bare && html`<header><h2>${title}</h2><button type="button" class="quiet" aria-label="Close" onClick=${close}>×</button></header>`}
      ${children}
    </dialog>`;
}

/** @param {{ commands: import("./key-table.js").Command[] }} props */
export function KeyTable({ commands }) {
  const groups = useMemo(() => [...new Set(commands.map(({ group }) => group))], []);
  return html`
    <div class="help">${groups.map((group) => html`<section key=${group}><h3>${group}</h3><dl>${commands.filter((one) => one.group === group && one.keys.length > 0).map((one) => html`
      <div key=${one.id}><dt>${one.keys.map((key) => html`<kbd key=${key}>${keyLabel(key)}</kbd>`)}</dt><dd>${one.label}</dd></div>`)}</dl></section>`)}</div>`;
}

/** @param {{ on: boolean, turn: () => void }} props */
export function Letters({ on, turn }) {
  return html`
    <p class="actions"><${Button} label="Letters as keys" pressed=${on} onClick=${turn} />
      <span class="note">Turn them off where they get in the way of speech input. Everything is also in the palette (Ctrl+K) and reachable by Tab.</span></p>`;
}

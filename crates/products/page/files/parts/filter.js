// A filter line: what is typed goes to the program, which alone understands it and completes it.

import { html, useEffect, useRef, useState } from "../html.js";
import { visible } from "../format.js";

const WAIT = 120;

/**
 * @typedef {{ text: string, what: string }} Suggestion
 * @param {{ value: string, placeholder: string, problem: import("../contract.js").Problem | null, onChange: (text: string) => void,
 *   complete: (text: string, at: number) => Promise<{ from: number, to: number, items: Suggestion[] }> }} props
 */
export function Filter({ value, placeholder, problem, onChange, complete }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [offer, setOffer] = useState(/** @type {{ from: number, to: number, items: Suggestion[], at: number } | null} */ (null));
  const timer = useRef(0);
  const asked = useRef(0);
  useEffect(() => {
    if (input.current && input.current.value !== value && document.activeElement !== input.current) input.current.value = value;
  }, [value]);

  const suggest = async () => {
    const node = input.current;
    if (!node) return;
    const mine = ++asked.current;
    try {
      const answer = await complete(node.value, node.selectionStart ?? node.value.length);
      if (mine === asked.current && document.activeElement === node) setOffer(answer.items.length > 0 ? { ...answer, at: -1 } : null);
    } catch {
      setOffer(null);
    }
  };
  const typed = () => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => onChange(input.current?.value ?? ""), WAIT);
    void suggest();
  };
  const take = (/** @type {Suggestion} */ item) => {
    const node = input.current;
    if (!node || !offer) return;
    node.setRangeText(item.text, offer.from, offer.to, "end");
    node.focus();
    typed();
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" && offer) {
      event.stopPropagation();
      setOffer(null);
    } else if (offer && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : -1;
      setOffer({ ...offer, at: (offer.at + by + offer.items.length + (offer.at < 0 && by < 0 ? 1 : 0)) % offer.items.length });
    } else if (offer && event.key === "Tab" && !event.shiftKey && offer.at >= 0) {
      event.preventDefault();
      take(offer.items[offer.at]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (offer && offer.at >= 0) return take(offer.items[offer.at]);
      clearTimeout(timer.current);
      setOffer(null);
      onChange(input.current?.value ?? "");
    }
  };
  const chosen = offer && offer.at >= 0 ? `filter-${offer.at}` : undefined;
  return html`
    <div class="filter">
      <input ref=${input} data-filter type="search" role="combobox" aria-label="Filter" aria-expanded=${String(offer !== null)}
        aria-controls="filter-offer" aria-autocomplete="list" aria-activedescendant=${chosen} aria-invalid=${String(problem !== null)}
        aria-describedby=${problem ? "filter-problem" : undefined} autocomplete="off" spellcheck=${false} maxlength="2000"
        placeholder=${placeholder} defaultValue=${value}
        onInput=${typed} onFocus=${() => void suggest()} onKeyDown=${key} onBlur=${() => setTimeout(() => setOffer(null), 150)} />
      <ul id="filter-offer" class="offer" role="listbox" aria-label="Completions" hidden=${offer === null}>
        ${offer?.items.map((item, at) => html`
          <li key=${item.text} id=${`filter-${at}`} role="option" aria-selected=${String(at === offer.at)}
            onPointerDown=${(/** @type {Event} */ event) => { event.preventDefault(); take(item); }}>
            <bdi class="mono">${visible(item.text, 80)}</bdi><span>${visible(item.what, 80)}</span>
          </li>`)}
      </ul>
      ${problem && html`<p id="filter-problem" class="filter-problem" role="alert">${visible(problem.what, 200)}${problem.position !== undefined && ` (at ${problem.position + 1})`}${problem.try && `. ${visible(problem.try, 200)}`}</p>`}
    </div>`;
}

// Buttons with their keys, and what is said of a problem.

import { html } from "../html.js";
import { problemText } from "../api.js";
import { visible } from "../format.js";

/**
 * @param {{ label: any, keys?: string, onClick: () => void, kind?: string, disabled?: boolean, pressed?: boolean, title?: string }} props
 */
export function Button({ label, keys, onClick, kind = "", disabled = false, pressed, title }) {
  return html`<button type="button" class=${kind} disabled=${disabled} title=${title} aria-pressed=${pressed === undefined ? undefined : String(pressed)}
    aria-keyshortcuts=${keys ? keys.replace("Ctrl", "Control") : undefined} onClick=${onClick}>${label}${keys && html` <kbd aria-hidden="true">${keys}</kbd>`}</button>`;
}

/** @param {{ problem: import("../contract.js").Problem | null | undefined }} props */
export function ProblemNote({ problem }) {
  return problem ? html`<p class="problem" role="alert"><bdi>${visible(problemText(problem), 1000)}</bdi></p>` : null;
}


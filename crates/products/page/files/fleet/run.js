// The run that the page started: how far it is, what came of it.

import { html } from "../html.js";
import { Button } from "../parts/button.js";
import { count, named, visible } from "../format.js";
import { store } from "./actions.js";

/** @param {{ state: import("./state.js").State, run: (command: string) => void }} props */
export function RunStrip({ state, run }) {
  const { fleet } = state;
  const shown = fleet?.run;
  if (!fleet || (!shown && fleet.left === 0)) return null;
  const last = shown?.last.at(-1);
  return html`<section class="run-strip" aria-label="Run">
    <p class="run-line">
      ${!shown?.running && fleet.left > 0 && html`<b>Another run</b> <span>${count(fleet.left, "gate")} left</span>`}
      ${shown?.running && html`<b>Running <bdi>${visible(shown.what, 100)}</bdi></b>
        <progress max=${shown.done + fleet.left || undefined} value=${fleet.left > 0 ? shown.done : undefined} aria-label="Gates"></progress>
        <span>${fleet.left > 0 ? `${count(shown.done, "gate")} done, ${fleet.left} left` : shown.done > 0 ? `${count(shown.done, "gate")} done` : "starting servers"}</span>
        ${shown.cancelled && html`<span class="dim">cancelling</span>`}`}
      ${shown && !shown.running && html`<b><bdi>${visible(shown.what, 100)}</bdi></b> <span class=${shown.failed ? "bad" : ""}><bdi>${visible(shown.text, 300)}</bdi></span>`}
      ${last && shown?.running && html`<span class="dim last-line"><bdi>${named(last[0], 60)}</bdi> ${last[1]} ${last[2]}</span>`}
      <span class="right"></span>
      ${shown?.running && !shown.cancelled && html`<${Button} label="Cancel" keys="x" kind="small" onClick=${() => run("cancel")} />`}
      ${shown && shown.last.length > 0 && html`<${Button} label=${state.log ? "Hide outcomes" : "Outcomes"} keys="l" kind="small" pressed=${state.log} onClick=${() => store.dispatch({ type: "log" })} />`}
    </p>
    ${state.log && shown && html`<ol class="outcomes" tabindex="0" aria-label="Outcomes, the newest first">${[...shown.last].reverse().map(([server, gate, outcome, summary], at) => html`
      <li key=${shown.last.length - at}><b><bdi>${named(server, 60)}</bdi></b> ${gate} <span class="light" data-light=${outcome}>${visible(outcome, 20)}</span> <bdi class="dim">${visible(summary, 200)}</bdi></li>`)}</ol>`}
  </section>`;
}

// What the rule book found in the traffic: one entry for each rule and message, with the way to the message.

import { html, useEffect, useMemo, useState } from "../html.js";
import { ItemList } from "../parts/items.js";
import { Button, ProblemNote } from "../parts/pane.js";
import { FindingCard } from "./detail.js";
import { findings, problemOf, store } from "../actions.js";
import { count } from "../format.js";

const WAIT = 300;

/**
 * @param {{ state: import("../state.js").State, list: any }} props
 */
export function FindingsView({ state, list }) {
  const [found, setFound] = useState(/** @type {import("../contract.js").Finding[] | null} */ (null));
  const [problem, setProblem] = useState(/** @type {import("../contract.js").Problem | null} */ (null));
  useEffect(() => {
    const timer = setTimeout(async () => {
      try {
        setFound((await findings()).findings);
        setProblem(null);
      } catch (error) {
        setProblem(problemOf(error));
      }
    }, found === null ? 0 : WAIT);
    return () => clearTimeout(timer);
  }, [state.server]);
  const items = useMemo(() => (found ?? []).map(itemOf), [found]);
  const at = items.findIndex(({ id }) => id === state.place.item);
  const unjudged = (state.server?.sessions ?? []).filter(({ judged }) => !judged);
  const chosen = found && at >= 0 ? found[at] : null;
  return html`
    <div class=${`split ${chosen ? "with-detail" : ""}`}>
      <section class="side-list" aria-label="Findings">
        <${ItemList} label="Findings" items=${items} selected=${state.place.item} list=${list}
          empty=${found === null ? "Reading…" : "No rule is broken by what has crossed so far."}
          onSelect=${(/** @type {string} */ item) => store.dispatch({ type: "item", item })} />
        <${ProblemNote} problem=${problem} />
        ${unjudged.length > 0 && html`<p class="problem">${count(unjudged.length, "session is", "sessions are")} not judged to the end: ${unjudged[0].why}</p>`}
      </section>
      <section class="detail" aria-label="Finding">
        ${chosen ? html`
          <button type="button" class="quiet close corner" aria-label="Close the details" onClick=${() => store.dispatch({ type: "item", item: "" })}>×</button>
          <${FindingCard} finding=${chosen} />
          <div class="actions"><${Button} label=${`Show row ${chosen.row}`} onClick=${() => store.dispatch({ type: "go", view: "traffic", q: "", at: chosen.row })} />
            <${Button} label="All messages that break it" onClick=${() => store.dispatch({ type: "go", view: "traffic", q: `finding:${chosen.rule}`, at: chosen.row })} /></div>`
        : html`<div class="nothing">Select a finding to see why it was made, and in which message.</div>`}
      </section>
    </div>`;
}

/** @param {import("../contract.js").Finding} finding */
function itemOf(finding) {
  const bad = finding.level === "must" || finding.level === "safety";
  return {
    id: `${finding.rule} ${finding.row} ${finding.part} ${finding.pointer ?? ""}`,
    name: finding.rule, note: finding.why, badge: `row ${finding.row}`, tone: bad ? "f" : "w", text: finding.sentence,
  };
}

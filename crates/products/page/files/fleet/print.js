// The report that is printed: what the filter leaves, as a plain table over as many pages as it needs, and the server that is open.
// It is made when the browser is about to print, and taken away after.

import { element } from "../html.js";
import { named, visible, visibleLines } from "../format.js";
import { store } from "./actions.js";
import { ageOf, moment } from "./detail.js";
import { BLOCKED, GATES, LIGHTS, NAME, OLDEST, OWNER, SCORE, STAGE, stageName } from "./rows.js";
import { ordered } from "./state.js";

/** @param {HTMLElement} into @param {string} tag @param {string} text @param {string} [className] */
function add(into, tag, text, className = "") {
  const node = element(tag, className, text);
  into.append(node);
  return node;
}

/** @param {import("./state.js").State} state */
export function report(state) {
  const page = element("article", "printed");
  const { fleet, place } = state;
  if (!fleet) return page;
  const rows = ordered(state.rows, state.matched, place.sort, fleet.gates);
  add(page, "h1", `${visible(fleet.fleet, 80)}: ${place.open && state.server ? named(state.server.name, 80) : `${rows.length} of ${fleet.servers} servers`}`);
  add(page, "p", `${moment(Math.floor(Date.now() / 1000))}. ${visible(fleet.sum, 300)}${place.q ? `. Filter: ${visible(place.q, 200)}` : ""}`);
  if (place.open && state.server) server(page, state.server);
  else table(page, rows, fleet);
  return page;
}

/** @param {HTMLElement} page @param {import("./contract.js").Row[]} rows @param {import("./contract.js").FleetState} fleet */
function table(page, rows, fleet) {
  const made = add(page, "table", "");
  const head = add(add(made, "thead", ""), "tr", "");
  for (const name of ["server", "stage", ...fleet.gates, "score", "owner", "age", "blocked"]) add(head, "th", name).setAttribute("scope", "col");
  const body = add(made, "tbody", "");
  for (const row of rows) {
    const line = add(body, "tr", "");
    add(line, "td", named(row[NAME], 80), "strong");
    add(line, "td", visible(stageName(row[STAGE], fleet), 40));
    for (const sign of row[GATES]) add(line, "td", LIGHTS[sign]?.word ?? "").dataset.light = LIGHTS[sign]?.word ?? "";
    add(line, "td", row[SCORE] === null ? "" : String(row[SCORE]));
    add(line, "td", visible(row[OWNER], 60), "loose");
    add(line, "td", ageOf(row[OLDEST]));
    add(line, "td", visible(row[BLOCKED], 200), "loose");
  }
}

/** @param {HTMLElement} page @param {import("./contract.js").Server} shown */
function server(page, shown) {
  add(page, "p", `Stage ${visible(shown.stage, 40)}${shown.wanted ? `, wanted ${visible(shown.wanted, 40)}` : ""}. Owner ${visible(shown.owner ?? "none", 60)}. ${visible(shown.launch, 200)}`);
  for (const gate of shown.gates) {
    const light = gate.light.replace("not-run", "not run");
    add(page, "h2", `${gate.gate}: ${light}`).dataset.light = light;
    add(page, "p", `${visible(gate.summary ?? "no result", 600)}${gate.at === null ? "" : ` (${moment(gate.at)})`}`);
    for (const finding of gate.findings) {
      const line = add(page, "div", "", "printed-finding");
      add(line, "b", `${visible(finding.level, 20)} ${named(finding.rule, 120)}`);
      add(line, "p", `${visible(finding.place, 200)}: ${visible(finding.message, 600)}${finding.waived ? " (waived)" : ""}`);
    }
  }
  if (shown.waivers.length > 0) add(page, "h2", "Waivers");
  for (const one of shown.waivers) {
    add(page, "p", `${one.gate} ${visible(one.rule ?? "", 80)}: ${visible(one.owner, 60)} until ${visible(one.until, 20)}${one.holds ? "" : " (ended)"}: ${visible(one.reason, 300)}`);
  }
  add(page, "h2", "Playbook");
  add(page, "pre", visibleLines(shown.playbook));
}

/** Prepares the report whenever the browser prints. */
export function followPrinting() {
  addEventListener("beforeprint", () => {
    document.querySelector(".printed")?.remove();
    document.body.append(report(store.state));
  });
  addEventListener("afterprint", () => document.querySelector(".printed")?.remove());
}

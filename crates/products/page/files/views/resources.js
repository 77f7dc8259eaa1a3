// Resources and templates: read, subscribe, complete.

import { html, useEffect, useMemo, useState } from "../html.js";
import { ItemList } from "../parts/items.js";
import { Form } from "../parts/form.js";
import { Contents, Tree } from "../parts/content.js";
import { Button, ProblemNote, RowLink, useAnswer, useRow } from "../parts/pane.js";
import { describe } from "../parts/form-model.js";
import { answerTo, load, request, store, subscribe } from "../actions.js";
import { COLUMN } from "../rows.js";
import { duration, named, visible, visibleLines } from "../format.js";
import { targetOf } from "../state.js";

/**
 * @param {{ state: import("../state.js").State, list: any }} props
 */
export function ResourcesView({ state, list }) {
  const target = targetOf(state);
  const resources = state.lists[`${target?.target}/resources`];
  const templates = state.lists[`${target?.target}/templates`];
  useEffect(() => {
    void load("resources");
    void load("templates");
  }, [target?.session, target?.state]);
  const all = useMemo(() => [...entries(resources?.items, "r"), ...entries(templates?.items, "t")], [resources?.items, templates?.items]);
  const chosen = all.find(({ id }) => id === state.place.item);
  const loading = resources?.loading || templates?.loading;
  const empty = target?.state !== "open" ? "No server is connected." : loading ? "Reading the lists…" : "The server offers no resources.";
  const refresh = () => {
    void load("resources", true);
    void load("templates", true);
  };
  return html`
    <div class=${`split ${chosen ? "with-detail" : ""}`}>
      <section class="side-list" aria-label="Resources">
        <${ItemList} label="Resources" items=${all} selected=${state.place.item} empty=${empty} list=${list}
          onSelect=${(/** @type {string} */ item) => store.dispatch({ type: "item", item })} />
        <${ProblemNote} problem=${resources?.error} />
        <${ProblemNote} problem=${templates?.error} />
        <div class="foot"><${Button} label="Refresh" kind="small" onClick=${refresh} /></div>
      </section>
      <section class="detail" aria-label="Resource">
        ${chosen ? html`<${Resource} key=${chosen.id} entry=${chosen} state=${state} />` : html`<div class="nothing">Select a resource to read it.</div>`}
      </section>
    </div>`;
}

/** @param {any[] | undefined} items @param {"r" | "t"} kind */
function entries(items, kind) {
  return (items ?? []).map((item, at) => {
    const address = kind === "r" ? item?.uri : item?.uriTemplate;
    const name = typeof address === "string" ? address : "";
    const note = typeof item?.title === "string" ? item.title : typeof item?.name === "string" ? item.name : "";
    return { id: `${kind}${at + 1}`, name, note, badge: kind === "t" ? "template" : "", tone: "", text: "", item, kind };
  });
}

/** @param {{ entry: any, state: import("../state.js").State }} props */
function Resource({ entry, state }) {
  const { item, kind, name } = entry;
  const target = targetOf(state);
  const variables = useMemo(() => (kind === "t" ? variablesOf(name) : []), [entry]);
  const [values, setValues] = useState(/** @type {Record<string, any>} */ ({}));
  const uri = kind === "t" ? expand(name, values) : name;
  const key = `${target?.target}/resources/${name}`;
  const row = state.sent[key] ?? 0;
  const subscribed = (target?.subscribed ?? []).includes(uri);
  const field = useMemo(() => describe({ type: "object", properties: Object.fromEntries(variables.map((one) => [one, { type: "string" }])), required: variables }), [variables]);
  const complete = async (/** @type {any} */ path, /** @type {string} */ typed) => completion({ type: "ref/resource", uri: name }, String(path[0]), typed, values, target);
  return html`
    <div class="call" data-call>
      <header class="detail-head">
        <div class="title-line"><h2><bdi>${named(name, 500)}</bdi></h2>
          ${kind === "t" && html`<span class="badge">template</span>`}
          <button type="button" class="quiet close" aria-label="Close the details" onClick=${() => store.dispatch({ type: "item", item: "" })}>×</button></div>
        <p class="facts">${[item?.title, item?.name, item?.mimeType].filter((one) => typeof one === "string").map((one, at) => html`<bdi key=${at}>${visible(one, 200)}</bdi>`)}</p>
        ${item?.description && html`<p class="says"><bdi>${visibleLines(item.description, 10_000)}</bdi></p>`}
        <details class="schemas"><summary>Definition</summary><${Tree} value=${item} label="Definition" /></details>
      </header>
      ${kind === "t" && html`<${Form} id="template" field=${field} value=${values} problems=${[]} onChange=${setValues} complete=${complete} /><p class="note">Address: <bdi class="mono">${visible(uri, 1000)}</bdi></p>`}
      <div class="actions">
        <button type="button" class="strong" data-send-button disabled=${target?.state !== "open"} onClick=${() => void request("resources/read", { uri }, { key })}>Read <kbd aria-hidden="true">Ctrl+Enter</kbd></button>
        <${Button} label=${subscribed ? "Unsubscribe" : "Subscribe"} pressed=${subscribed} disabled=${target?.state !== "open"} onClick=${() => void subscribe(uri, !subscribed)} />
      </div>
      ${row > 0 && html`<${Read} n=${row} />`}
    </div>`;
}

/**
 * Suggestions of the server for an argument.
 * @param {any} ref
 * @param {string} name
 * @param {string} value
 * @param {Record<string, any>} others
 * @param {import("../contract.js").Target | null} target
 * @returns {Promise<string[]>}
 */
export async function completion(ref, name, value, others, target) {
  if (!target?.capabilities || !("completions" in target.capabilities)) return [];
  const rest = Object.fromEntries(Object.entries(others).filter(([one, given]) => one !== name && typeof given === "string"));
  const params = { ref, argument: { name, value }, ...(Object.keys(rest).length > 0 ? { context: { arguments: rest } } : {}) };
  const result = await answerTo("completion/complete", params);
  const values = result?.completion?.values;
  return Array.isArray(values) ? values.filter((one) => typeof one === "string") : [];
}

/**
 * Names of the variables of an RFC 6570 template.
 * @param {string} template
 */
export function variablesOf(template) {
  const names = [...template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap(([, list]) => list.split(","));
  return [...new Set(names.map((name) => name.replace(/(\*|:\d+)$/, "").trim()).filter(Boolean))].slice(0, 50);
}

/**
 * The address that a template makes from texts: every operator of RFC 6570 for single values.
 * @param {string} template
 * @param {Record<string, any>} values
 */
export function expand(template, values) {
  return template.replaceAll(/\{([+#./;?&]?)([^}]*)\}/g, (_whole, operator, list) => {
    const given = list.split(",").map((/** @type {string} */ spec) => termOf(spec.trim(), operator, values)).filter((/** @type {string | null} */ term) => term !== null);
    if (given.length === 0) return "";
    const first = operator === "+" ? "" : operator;
    const between = { "": ",", "+": ",", "#": ",", ".": ".", "/": "/", ";": ";", "?": "&", "&": "&" }[/** @type {string} */ (operator)] ?? ",";
    return first + given.join(between);
  });
}

/** @param {string} spec @param {string} operator @param {Record<string, any>} values */
function termOf(spec, operator, values) {
  const [, name, cut] = /^(.*?)(?:\*|:(\d+))?$/.exec(spec) ?? [];
  const value = values[name];
  if (typeof value !== "string") return null;
  // Half of a surrogate pair has no UTF-8.
  const whole = value.replaceAll(/\p{Surrogate}/gu, "\ufffd");
  const text = cut ? [...whole].slice(0, Number(cut)).join("") : whole;
  const coded = operator === "+" || operator === "#" ? encodeURI(text).replaceAll(/%25([0-9A-Fa-f]{2})/g, "%$1") : encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  if (operator === ";") return coded ? `${name}=${coded}` : name;
  return operator === "?" || operator === "&" ? `${name}=${coded}` : coded;
}

/** @param {{ n: number }} props */
function Read({ n }) {
  const { detail, problem } = useRow(n);
  const { result, error } = useAnswer(detail);
  if (problem) return html`<${ProblemNote} problem=${problem} />`;
  if (!detail) return html`<p class="note">Reading…</p>`;
  const status = String(detail.row[COLUMN.status]);
  return html`
    <section class=${`outcome ${status !== "ok" && status !== "pending" ? "f" : status}`} aria-label="Contents" aria-live="polite">
      <header class="title-line"><h3>${error ? "Error" : "Contents"}</h3><span class="status-word" data-status=${status}>${visible(status, 20)}</span>
        <span class="dim">${detail.row[COLUMN.took] === null ? "" : duration(Number(detail.row[COLUMN.took]) / 1000)}</span><${RowLink} n=${n} /></header>
      ${error && html`<${Tree} value=${error} label="Error" />`}
      ${result !== undefined && html`<${Contents} contents=${result?.contents} />`}
      ${result === undefined && !error && status !== "pending" && html`<p class="note">No answer that can be shown here: see the row.</p>`}
    </section>`;
}

// Guided authorization: each step to a token with its requests and responses, what the specification asks of it, and what to do
// where it fails. The texts of STEPS are ours; everything else comes from the program, without secrets.

import { html, useEffect, useState } from "../html.js";
import { Button, ProblemNote, RowLink, useRow } from "../parts/pane.js";
import { PartView } from "./detail.js";
import { copy, guide } from "../actions.js";
import { post } from "../api.js";
import { visible } from "../format.js";
import { targetOf } from "../state.js";

/** What each step is, what the specification asks of it, and where to look if it fails. */
const STEPS = /** @type {Record<string, { title: string, asks: string, help: string }>} */ ({
  challenge: {
    title: "Request without a token",
    asks: "The server answers 401. Its WWW-Authenticate names the address of its metadata (resource_metadata) and, if it knows, the scopes (RFC 6750, RFC 9728).",
    help: "Another status means that the server does not ask for a token here, or that something before it answers, such as a proxy.",
  },
  "resource-metadata": {
    title: "Metadata of the server",
    asks: "A JSON document names the server as `resource`, exactly as clients address it, and at least one authorization server (RFC 9728).",
    help: "Compare `resource` with the address that you gave, letter by letter. Look at the path: it stands after /.well-known/oauth-protected-resource.",
  },
  "issuer-metadata": {
    title: "Metadata of the authorization server",
    asks: "A JSON document whose `issuer` is exactly the name that led there, with its endpoints over https, and S256 among its PKCE methods (RFC 8414, OpenID Connect Discovery).",
    help: "The `issuer` may differ by a slash at the end. A tenant's path stands after the well-known part, or before it for OpenID Connect.",
  },
  registration: {
    title: "Id of the client",
    asks: "A client is known beforehand, by the address of its metadata document, or registers itself (RFC 7591). Its redirect address is on this machine.",
    help: "Where clients cannot register themselves, register one by hand and start `proof inspect` with --oauth=browser --oauth-client-id ID --oauth-port PORT.",
  },
  authorization: {
    title: "Consent in the browser",
    asks: "The request has PKCE, `state`, and the server as `resource` (RFC 7636, RFC 8707). The browser comes back with a code, the same `state`, and the issuer as `iss` (RFC 9207).",
    help: "An error page before the consent is about client id, redirect address or scopes. If the browser is on another machine, paste the address that it was sent to.",
  },
  token: {
    title: "Code in exchange for a token",
    asks: "The token endpoint takes the code once, with the PKCE verifier and the same redirect address, and issues a token of the type Bearer (OAuth 2.1).",
    help: "invalid_grant: the code was used or expired, or verifier and redirect address do not match. invalid_client: id, secret or way of authentication.",
  },
  call: {
    title: "Call with the token",
    asks: "The server accepts the token in the header Authorization: it was issued for this server, and has the scopes that the request needs.",
    help: "401 after a token means that the server checks its audience, issuer, signature or time otherwise than the authorization server made it. Compare `aud` with `resource`.",
  },
  refresh: {
    title: "Refresh",
    asks: "A refresh token gives another access token. A public client gets another refresh token with it (OAuth 2.1).",
    help: "Without a refresh token, ask for the scope offline_access, if the authorization server lists it.",
  },
});
const STATUS = /** @type {Record<string, string>} */ ({ ok: "ok", failed: "error" });
const POLL = 400;

/** @param {{ state: import("../state.js").State }} props */
export function Authorization({ state }) {
  const target = targetOf(state)?.target ?? 0;
  const [shown, setShown] = useState(/** @type {import("../contract.js").Guide | null} */ (null));
  const [all, setAll] = useState(false);
  useEffect(() => {
    // Where nothing was begun, that is no failure.
    post("/api/oauth", { target, act: "state" }).then(setShown, () => {});
  }, [target]);
  const act = async (/** @type {string} */ what, /** @type {any} */ more = {}) => {
    const next = await guide(what, more);
    if (next) setShown(next);
    return next;
  };
  const begin = async (/** @type {boolean} */ whole) => {
    setAll(whole);
    // Where all steps are taken, the first is taken as all others are: when the state came.
    if ((await act("begin")) && !whole) await act("step");
  };
  useEffect(() => {
    if (!shown) return;
    const failed = shown.steps.some(({ outcome }) => outcome === "failed");
    const left = shown.steps.some(({ outcome }) => outcome === null);
    if (!shown.busy) {
      if (all && !failed && left) void act("step");
      return;
    }
    const timer = setTimeout(() => void act("state"), POLL);
    return () => clearTimeout(timer);
  }, [shown]);
  return html`
    <h3>Authorization, step by step</h3>
    <p class="note">Gets a token as a client does, and shows every request and response. Secrets are replaced. Nothing is kept when the program ends.</p>
    <${Controls} shown=${shown} begin=${begin} act=${act} setAll=${setAll} />
    ${shown && html`<ol class="guide">${shown.steps.map((step) => html`<${Step} key=${step.step} step=${step} shown=${shown} state=${state} act=${act} />`)}</ol>`}`;
}

/** @param {{ shown: import("../contract.js").Guide | null, begin: (all: boolean) => Promise<void>, act: any, setAll: (all: boolean) => void }} props */
function Controls({ shown, begin, act, setAll }) {
  if (!shown) {
    return html`<div class="actions">
      <button type="button" class="strong" data-authorize onClick=${() => void begin(false)}>Begin <kbd aria-hidden="true">o</kbd></button>
      <${Button} label="All steps" onClick=${() => void begin(true)} /></div>`;
  }
  const left = shown.steps.some(({ outcome }) => outcome !== "ok" && outcome !== "skipped");
  const failed = shown.steps.some(({ outcome }) => outcome === "failed");
  const next = async (/** @type {boolean} */ whole) => { setAll(whole); await act("step"); };
  return html`<div class="actions" role="status">
    ${shown.busy && html`<${Button} label="Stop" onClick=${() => { setAll(false); void act("stop"); }} />`}
    ${!shown.busy && left && html`<button type="button" class="strong" data-authorize onClick=${() => void next(false)}>${failed ? "Try this step again" : "Next step"} <kbd aria-hidden="true">o</kbd></button>`}
    ${!shown.busy && left && html`<${Button} label="All further steps" onClick=${() => void next(true)} />`}
    <${Button} label="Begin again" onClick=${() => void begin(false)} />
    ${!left && html`<span>Every step works. The connection uses this token.</span>`}</div>`;
}

/** A text of ours, with what stands between backquotes as code. @param {string} text */
const withCode = (text) => text.split("`").map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : piece));

/** @param {{ step: import("../contract.js").GuideStep, shown: import("../contract.js").Guide, state: import("../state.js").State, act: any }} props */
function Step({ step, shown, state, act }) {
  const known = STEPS[step.step] ?? { title: step.step, asks: "", help: "" };
  const busy = shown.busy === step.step;
  const word = busy ? "under way" : step.outcome ?? "not taken";
  return html`<li data-step=${step.step} data-outcome=${step.outcome ?? ""} class=${step.outcome === "failed" ? "f" : ""}>
    <p class="title-line"><b>${visible(known.title, 80)}</b>
      ${busy || STATUS[step.outcome ?? ""] ? html`<span class="status-word" data-status=${busy ? "pending" : STATUS[step.outcome ?? ""]}>${word}</span>` : html`<span class="dim">${word}</span>`}
      ${step.outcome !== null && html`<span class="dim">${step.ms} ms</span>`}
      ${step.outcome !== null && !shown.busy && html`<button type="button" class="link" onClick=${() => void act("step", { step: step.step })}>take it again</button>`}</p>
    <p class="note">${withCode(known.asks)}</p>
    ${step.seen.map((line, at) => html`<p class=${step.outcome === "failed" ? "bad" : "seen mono"} key=${at}><bdi>${visible(line, 600)}</bdi></p>`)}
    ${step.outcome === "failed" && html`<p class="fix"><bdi>Try: ${visible(step.fix, 400)}</bdi></p><p class="note">${withCode(known.help)}</p>`}
    ${busy && step.step === "authorization" && html`<${Consent} open=${shown.open} act=${act} />`}
    ${step.rows.length > 0 && html`<details><summary>${step.rows.length === 1 ? "1 request and its response" : `${step.rows.length} requests and their responses`}</summary>
      ${step.rows.map((n) => html`<${Exchange} key=${n} n=${n} raw=${state.raw} />`)}</details>`}
  </li>`;
}

/** The address that the user opens; only one of the web becomes a link. @param {{ open: string | null, act: any }} props */
function Consent({ open, act }) {
  const [pasted, setPasted] = useState("");
  if (!open) return html`<p class="note">Making the address…</p>`;
  if (!/^https?:\/\//i.test(open)) return html`<p class="bad">The authorization endpoint is no address of the web.</p>`;
  const address = new URL(open);
  const secret = ["state", "code_challenge"];
  return html`
    <div class="actions"><a class="button strong" data-consent href=${open} target="_blank" rel="noopener noreferrer">Open the authorization page</a>
      <${Button} label="Copy the address" onClick=${() => void copy(open)} /></div>
    <table class="headers"><caption class="unseen">Parameters of the request</caption><tbody>
      <tr><th scope="row">address</th><td><bdi>${visible(address.origin + address.pathname, 400)}</bdi></td></tr>
      ${[...address.searchParams].map(([name, value]) => html`<tr key=${name}><th scope="row"><bdi>${visible(name, 80)}</bdi></th><td><bdi>${secret.includes(name) ? "concealed" : visible(value, 400)}</bdi></td></tr>`)}</tbody></table>
    <p class="note">Open it and agree there. Is the browser on another machine, so that it cannot come back? Paste the address that it was sent to:</p>
    <div class="line"><input type="text" aria-label="Address that the browser was sent to" autocomplete="off" spellcheck=${false} value=${pasted} onInput=${(/** @type {any} */ e) => setPasted(e.target.value)} />
      <${Button} label="Use this address" disabled=${pasted.trim() === ""} onClick=${() => { void act("answer", { url: pasted }); setPasted(""); }} /></div>`;
}

/** A request and its response. @param {{ n: number, raw: boolean }} props */
function Exchange({ n, raw }) {
  const { detail, problem } = useRow(n);
  if (problem) return html`<${ProblemNote} problem=${problem} />`;
  if (!detail) return html`<p class="note">Reading row ${n}…</p>`;
  return html`<div class="exchange"><p><${RowLink} n=${n} /></p>
    ${detail.parts.map((part) => html`<${PartView} key=${part.part} n=${n} part=${part} raw=${raw} />`)}</div>`;
}

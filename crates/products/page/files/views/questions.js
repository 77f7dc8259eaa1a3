// Questions of the server: forms, addresses to open, sampling, roots. Answered where they are, also under a call that waits for them.

import { html, useMemo, useState } from "../html.js";
import { Form, JsonInput } from "../parts/form.js";
import { Messages, Tree } from "../parts/content.js";
import { Button } from "../parts/pane.js";
import { describe, first, problems } from "../parts/form-model.js";
import { answer, copy, refuse } from "../actions.js";
import { visible, visibleLines } from "../format.js";

const TITLES = /** @type {Record<string, string>} */ ({
  form: "The server asks you to fill in a form", url: "The server asks you to open an address", sampling: "The server asks for a message of a model",
  roots: "The server asks for your roots",
});

/** @typedef {import("../contract.js").Question} Question */

/** @param {{ state: import("../state.js").State }} props */
export function QuestionsView({ state }) {
  const questions = state.server?.questions ?? [];
  return html`<section class="sheet" aria-label="Questions of the server">
    <h2>Questions of the server</h2>
    ${questions.length === 0 && html`<div class="nothing">No question is open. A server may ask while a call runs: the question appears here and under the call.</div>`}
    ${questions.map((question) => html`<${QuestionCard} key=${question.question} question=${question} />`)}
  </section>`;
}

/** @param {{ state: import("../state.js").State }} props */
export function QuestionsInline({ state }) {
  const questions = state.server?.questions ?? [];
  return questions.map((question) => html`<${QuestionCard} key=${question.question} question=${question} />`);
}

/** @param {{ question: Question }} props */
function QuestionCard({ question }) {
  const kinds = /** @type {Record<string, any>} */ ({ form: FormQuestion, url: UrlQuestion, sampling: SamplingQuestion, roots: RootsQuestion });
  const Kind = kinds[question.kind] ?? UnknownQuestion;
  return html`<article class="question" aria-label=${TITLES[question.kind] ?? "Question"} data-question=${question.question}>
    <h3>${TITLES[question.kind] ?? `Question of an unknown kind: ${visible(question.kind, 40)}`} <span class="dim">no. ${question.question}</span></h3>
    <${Kind} question=${question} />
  </article>`;
}

/** @param {{ question: Question }} props */
function FormQuestion({ question }) {
  const field = useMemo(() => describe(question.schema ?? { type: "object" }), [question]);
  const [value, setValue] = useState(() => (field.kind === "object" ? first(field) : {}));
  const found = problems(field, value);
  return html`
    <p class="says"><bdi>${visibleLines(question.message, 5000)}</bdi></p>
    <${Form} id=${`question-${question.question}`} field=${field} value=${value} problems=${found} onChange=${setValue} />
    <${Choices} question=${question} accept=${() => ({ action: "accept", content: value })} label=${found.length > 0 ? "Accept with errors" : "Accept"} />`;
}

/** @param {{ question: Question }} props */
function UrlQuestion({ question }) {
  const url = String(question.url ?? "");
  const web = /^https?:\/\//i.test(url);
  return html`
    <p class="says"><bdi>${visibleLines(question.message, 5000)}</bdi></p>
    <p class="mono block"><bdi>${visible(url, 2000)}</bdi></p>
    <p class="note">${web ? "Copy it and open it only if you trust the server." : "This is not an address of the web."}</p>
    <div class="actions"><${Button} label="Copy the address" onClick=${() => void copy(url)} /></div>
    <${Choices} question=${question} accept=${() => ({ action: "accept" })} label="Accept" />`;
}

/** @param {{ question: Question, accept: () => any, label: string }} props */
function Choices({ question, accept, label }) {
  const send = (/** @type {any} */ result) => void answer(question.question, result);
  return html`<div class="actions">
    <button type="button" class="strong" data-send-button onClick=${() => send(accept())}>${label}</button>
    <${Button} label="Decline" onClick=${() => send({ action: "decline" })} />
    <${Button} label="Cancel" onClick=${() => send({ action: "cancel" })} />
    <${Button} label="Refuse with an error" onClick=${() => void refuse(question.question)} />
  </div>`;
}

/** @param {{ question: Question }} props */
function SamplingQuestion({ question }) {
  const params = question.params ?? {};
  const [text, setText] = useState("");
  const [model, setModel] = useState("a-person");
  const id = `question-${question.question}`;
  const reply = () => ({ role: "assistant", model, stopReason: "endTurn", content: { type: "text", text } });
  return html`
    ${params.systemPrompt && html`<p class="note">System prompt</p><p class="says block"><bdi>${visibleLines(params.systemPrompt, 20_000)}</bdi></p>`}
    <${Messages} messages=${params.messages} />
    <details><summary>All of the request</summary><${Tree} value=${params} label="Request" /></details>
    <label class="field" for=${`${id}-text`}>Your answer as the model</label>
    <textarea id=${`${id}-text`} rows="4" value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)}></textarea>
    <label class="field" for=${`${id}-model`}>Name of the model</label>
    <input id=${`${id}-model`} value=${model} onInput=${(/** @type {any} */ e) => setModel(e.target.value)} />
    <div class="actions">
      <button type="button" class="strong" data-send-button onClick=${() => void answer(question.question, reply())}>Answer</button>
      <${Button} label="Refuse with an error" onClick=${() => void refuse(question.question)} />
    </div>`;
}

/** @param {{ question: Question }} props */
function RootsQuestion({ question }) {
  const [roots, setRoots] = useState(/** @type {any} */ ([]));
  return html`
    <p class="note">A list of roots, such as <code>[{ "uri": "file:///home/me/project", "name": "project" }]</code></p>
    <${JsonInput} value=${roots} set=${setRoots} label="Roots as JSON" />
    <div class="actions">
      <button type="button" class="strong" data-send-button onClick=${() => void answer(question.question, { roots })}>Answer</button>
      <${Button} label="Refuse with an error" onClick=${() => void refuse(question.question)} />
    </div>`;
}

/** @param {{ question: Question }} props */
function UnknownQuestion({ question }) {
  return html`<${Tree} value=${question} label="Question" />
    <div class="actions"><${Button} label="Refuse with an error" onClick=${() => void refuse(question.question)} /></div>`;
}

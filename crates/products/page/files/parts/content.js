// What tools, prompts and resources return: texts, images, sound, links, structured content. Text stays text; a picture is shown
// only where its type says that it is one.

import { html, useEffect, useMemo, useRef } from "../html.js";
import { jsonTree } from "./tree.js";
import { size, visible, visibleLines } from "../format.js";
import { pretty, text, tryParse } from "../json.js";

const MOST_BLOCKS = 200;

/**
 * JSON in place.
 * @param {{ value: any, label: string, open?: number, marks?: Map<string, string> }} props
 */
export function Tree({ value, label, open, marks }) {
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  // The same JSON in another object changes nothing: what the reader has opened stays open.
  const same = useMemo(() => sameness(value), [value]);
  useEffect(() => {
    host.current?.replaceChildren(jsonTree(value, { label, open, marks }));
  }, [same, marks]);
  return html`<div ref=${host}></div>`;
}

/** @param {any} value */
function sameness(value) {
  try {
    return text(value, 0);
  } catch {
    return value;
  }
}

/**
 * Blocks of content, such as those of a tool's result.
 * @param {{ blocks: any }} props
 */
export function Blocks({ blocks }) {
  if (!Array.isArray(blocks)) return html`<p class="bad">The content is not an array.</p>`;
  if (blocks.length === 0) return html`<p class="note">The content is empty.</p>`;
  return html`<div class="blocks">
    ${blocks.slice(0, MOST_BLOCKS).map((block, at) => html`<${Block} key=${at} block=${block} />`)}
    ${blocks.length > MOST_BLOCKS && html`<p class="note">${blocks.length - MOST_BLOCKS} more: see the message.</p>`}
  </div>`;
}

/** @param {{ block: any }} props */
function Block({ block }) {
  const type = block?.type;
  if (type === "text") return html`<${TextBlock} said=${block.text} />`;
  if (type === "image") return html`<${Media} kind="image" data=${block.data} type=${block.mimeType} />`;
  if (type === "audio") return html`<${Media} kind="audio" data=${block.data} type=${block.mimeType} />`;
  if (type === "resource_link") {
    return html`<p class="block"><span class="badge">link</span> <bdi class="mono">${visible(block.uri, 500)}</bdi> <bdi class="dim">${visible(block.title ?? block.name, 200)}</bdi></p>`;
  }
  if (type === "resource") return html`<${Contents} contents=${[block.resource]} />`;
  return html`<div class="block"><span class="badge">${visible(type ?? "unknown type", 80)}</span><${Tree} value=${block ?? null} label="content" /></div>`;
}

/** @param {{ said: any }} props */
function TextBlock({ said }) {
  const parsed = useMemo(() => {
    const looksJson = typeof said === "string" && /^\s*[[{]/.test(said) && said.length < 200_000;
    return looksJson ? tryParse(said) : { problem: "no", value: undefined };
  }, [said]);
  if (typeof said !== "string") return html`<div class="block"><${Tree} value=${said ?? null} label="text that is not a string" /></div>`;
  if (parsed.problem === null) {
    return html`<div class="block"><${Tree} value=${parsed.value} label="text that is JSON" /></div>`;
  }
  return html`<pre class="block text" tabindex="0"><bdi>${visibleLines(said)}</bdi></pre>`;
}

/**
 * @param {{ kind: "image" | "audio", data: any, type: any }} props
 */
function Media({ kind, data, type }) {
  const known = typeof data === "string" && typeof type === "string" && new RegExp(`^${kind}/[A-Za-z0-9.+-]{1,60}$`).test(type);
  const valid = known && /^[A-Za-z0-9+/\s]*={0,2}$/.test(data);
  const about = html`<p class="note"><span class="badge">${kind}</span> <bdi>${visible(type, 100)}</bdi>${typeof data === "string" && `, ${size(Math.floor(data.length * 0.75))}`}</p>`;
  if (!valid) return html`<div class="block">${about}<p class="bad">${known ? "The data is not base64." : `The type is not one of ${kind === "image" ? "an image" : "sound"}.`}</p></div>`;
  const source = `data:${type};base64,${data.replaceAll(/\s/g, "")}`;
  const shown = kind === "image"
    ? html`<img src=${source} alt=${`image of type ${type}`} loading="lazy" />`
    : html`<audio controls src=${source} aria-label=${`sound of type ${type}`}></audio>`;
  return html`<figure class="block">${shown}${about}</figure>`;
}

/**
 * What a resource holds.
 * @param {{ contents: any }} props
 */
export function Contents({ contents }) {
  if (!Array.isArray(contents)) return html`<p class="bad">The contents are not an array.</p>`;
  if (contents.length === 0) return html`<p class="note">The resource is empty.</p>`;
  return html`<div class="blocks">${contents.slice(0, MOST_BLOCKS).map((one, at) => html`<${Content} key=${at} content=${one} />`)}</div>`;
}

/** @param {{ content: any }} props */
function Content({ content }) {
  const type = typeof content?.mimeType === "string" ? content.mimeType : "";
  const head = html`<p class="note"><bdi class="mono">${visible(content?.uri, 500)}</bdi> <bdi>${visible(type, 100)}</bdi></p>`;
  if (typeof content?.text === "string") {
    const shown = /json/i.test(type) ? pretty(content.text) : content.text;
    return html`<div class="block">${head}<pre class="text" tabindex="0"><bdi>${visibleLines(shown)}</bdi></pre></div>`;
  }
  if (typeof content?.blob === "string") {
    const kind = type.startsWith("image/") ? "image" : type.startsWith("audio/") ? "audio" : "";
    if (kind) return html`<div>${head}<${Media} kind=${kind} data=${content.blob} type=${type} /></div>`;
    return html`<div class="block">${head}<p class="note">${size(Math.floor(content.blob.length * 0.75))} of bytes.</p></div>`;
  }
  return html`<div class="block"><${Tree} value=${content ?? null} label="contents" /></div>`;
}

/**
 * Messages of a prompt or of a sampling request.
 * @param {{ messages: any }} props
 */
export function Messages({ messages }) {
  if (!Array.isArray(messages)) return html`<p class="bad">The messages are not an array.</p>`;
  return html`<div class="conversation">${messages.slice(0, MOST_BLOCKS).map((message, at) => html`
    <div class=${`message ${message?.role === "assistant" ? "assistant" : "user"}`} key=${at}>
      <p class="role"><bdi>${visible(message?.role ?? "no role", 40)}</bdi></p>
      <${Blocks} blocks=${Array.isArray(message?.content) ? message.content : [message?.content]} />
    </div>`)}</div>`;
}

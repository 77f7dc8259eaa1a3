// JSON as a tree in plain DOM. Branches are made when they are opened, long lists and texts in portions: a message of megabytes
// costs no more than what is in sight. Arrow keys move as in every tree.

import { element } from "../html.js";
import { visible, visibleLines, count } from "../format.js";
import { ExactNumber } from "../json.js";

const PORTION = 100;
const LONG = 400;

/**
 * @typedef {{ key: string | number | null, value: any, path: string, depth: number, last: boolean }} Entry
 *
 * @param {any} value
 * @param {{ label: string, open?: number, marks?: Map<string, string> }} options `open`: levels that are open at first;
 *   `marks`: JSON Pointers of places with findings, and their level
 * @returns {HTMLElement}
 */
export function jsonTree(value, { label, open = 3, marks = new Map() }) {
  const tree = element("ul", "tree");
  tree.setAttribute("role", "tree");
  tree.setAttribute("aria-label", label);
  tree.append(item({ key: null, value, path: "", depth: 0, last: true }, open, marks));
  const first = /** @type {HTMLElement} */ (tree.querySelector("[role=treeitem]"));
  first.tabIndex = 0;
  tree.addEventListener("keydown", (event) => move(tree, event));
  tree.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const clicked = /** @type {HTMLElement | null} */ (target?.closest("[role=treeitem]"));
    if (clicked && target?.closest(".twist")) toggle(clicked);
    if (clicked) focus(tree, clicked, false);
  });
  return tree;
}

/** @param {any} value */
const isBranch = (value) => value !== null && typeof value === "object" && !(value instanceof ExactNumber);

/**
 * @param {Entry} entry
 * @param {number} open
 * @param {Map<string, string>} marks
 * @returns {HTMLElement}
 */
function item(entry, open, marks) {
  const node = element("li");
  node.setAttribute("role", "treeitem");
  node.setAttribute("aria-level", String(entry.depth + 1));
  node.tabIndex = -1;
  const line = element("div", "leaf");
  const mark = marks.get(entry.path);
  if (mark) line.classList.add("broken", mark === "must" || mark === "safety" ? "f" : "w");
  node.append(line);
  if (!isBranch(entry.value) || size(entry.value) === 0) {
    line.append(...keyOf(entry), leaf(entry.value));
    return node;
  }
  const under = [...marks.keys()].some((path) => path.startsWith(`${entry.path}/`));
  branch(node, line, entry, open, marks, entry.depth < open || under);
  return node;
}

/**
 * @param {HTMLElement} node
 * @param {HTMLElement} line
 * @param {Entry} entry
 * @param {number} open
 * @param {Map<string, string>} marks
 * @param {boolean} opened
 */
function branch(node, line, entry, open, marks, opened) {
  const { value } = entry;
  const list = Array.isArray(value);
  const twist = element("span", "twist");
  twist.setAttribute("aria-hidden", "true");
  line.append(twist, ...keyOf(entry), element("span", "punctuation", list ? "[" : "{"));
  const summary = count(size(value), list ? "item" : "member");
  line.append(element("span", "folded", ` ${summary} ${list ? "]" : "}"}`));
  const group = element("ul");
  group.setAttribute("role", "group");
  node.append(group);
  /** @type {any} */ (node).fill = () => {
    if (group.childElementCount === 0) portion(group, entry, 0, open, marks);
  };
  expand(node, opened);
}

/** @param {any} value */
const size = (value) => (Array.isArray(value) ? value.length : Object.keys(value).length);

/**
 * @param {HTMLElement} group
 * @param {Entry} parent
 * @param {number} from
 * @param {number} open
 * @param {Map<string, string>} marks
 */
function portion(group, parent, from, open, marks) {
  const { value } = parent;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const to = Math.min(keys.length, from + PORTION);
  for (const key of keys.slice(from, to)) {
    const path = `${parent.path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const child = { key, value: /** @type {any} */ (value)[key], path, depth: parent.depth + 1, last: false };
    group.append(item(child, open, marks));
  }
  if (to === keys.length) return;
  const more = element("li");
  more.setAttribute("role", "treeitem");
  more.tabIndex = -1;
  const button = element("span", "more-items", `${count(keys.length - to, "more item")}: show the next ${Math.min(PORTION, keys.length - to)}`);
  more.append(button);
  const show = () => {
    more.remove();
    portion(group, parent, to, open, marks);
  };
  more.addEventListener("click", show);
  more.addEventListener("keydown", (event) => {
    if (event.key === "Enter") show();
  });
  group.append(more);
}

/** @param {Entry} entry */
function keyOf({ key }) {
  if (key === null) return [];
  const name = typeof key === "number" ? element("span", "index", String(key)) : element("bdi", "key", visible(key, 200));
  return [name, element("span", "punctuation", ": ")];
}

/**
 * @param {any} value
 * @returns {HTMLElement}
 */
function leaf(value) {
  if (typeof value === "string") return stringLeaf(value);
  if (Array.isArray(value)) return element("span", "punctuation", "[]");
  if (value instanceof ExactNumber || typeof value === "number") return element("span", "number", String(value));
  if (value === null || typeof value === "boolean") return element("span", "word", String(value));
  return element("span", "punctuation", "{}");
}

/** @param {string} value */
function stringLeaf(value) {
  const node = element("bdi", "string");
  const lines = value.includes("\n");
  if (value.length <= LONG) {
    node.textContent = quoted(value, lines);
    return node;
  }
  const begin = value.slice(0, LONG);
  node.textContent = quoted(begin, begin.includes("\n"));
  const more = element("button", "more-text", `… ${count(value.length, "character")}`);
  more.addEventListener("click", () => { node.textContent = quoted(value, lines); });
  node.append(more);
  return node;
}

/**
 * @param {string} value
 * @param {boolean} lines
 */
const quoted = (value, lines) => `"${lines ? visibleLines(value) : visible(value, 200_000)}"`;

/**
 * @param {HTMLElement} node
 * @param {boolean} open
 */
function expand(node, open) {
  if (open) /** @type {any} */ (node).fill();
  node.setAttribute("aria-expanded", String(open));
}

/** @param {HTMLElement} node */
function toggle(node) {
  if (node.hasAttribute("aria-expanded")) expand(node, node.getAttribute("aria-expanded") !== "true");
}

/** @param {HTMLElement} tree */
function shown(tree) {
  const all = /** @type {HTMLElement[]} */ ([...tree.querySelectorAll("[role=treeitem]")]);
  return all.filter((node) => !node.parentElement?.closest("[aria-expanded=false]"));
}

/**
 * @param {HTMLElement} tree
 * @param {HTMLElement} node
 * @param {boolean} really
 */
function focus(tree, node, really = true) {
  tree.querySelector("[role=treeitem][tabindex='0']")?.setAttribute("tabindex", "-1");
  node.tabIndex = 0;
  if (really) node.focus();
}

/**
 * @param {HTMLElement} tree
 * @param {KeyboardEvent} event
 */
function move(tree, event) {
  const here = event.target instanceof Element ? /** @type {HTMLElement | null} */ (event.target.closest("[role=treeitem]")) : null;
  if (!here || event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLButtonElement) return;
  const expanded = here.getAttribute("aria-expanded");
  const list = shown(tree);
  const at = list.indexOf(here);
  /** @type {HTMLElement | null | undefined} */
  let next;
  if (event.key === "ArrowDown") next = list[at + 1];
  else if (event.key === "ArrowUp") next = list[at - 1];
  else if (event.key === "Home") next = list[0];
  else if (event.key === "End") next = list.at(-1);
  else if (event.key === "ArrowRight" && expanded === "false") toggle(here);
  else if (event.key === "ArrowRight" && expanded === "true") next = list[at + 1];
  else if (event.key === "ArrowLeft" && expanded === "true") toggle(here);
  else if (event.key === "ArrowLeft") next = /** @type {HTMLElement | null} */ (here.parentElement?.closest("[role=treeitem]"));
  else if (event.key === "Enter" && expanded !== null) toggle(here);
  else return;
  event.preventDefault();
  event.stopPropagation();
  if (next) focus(tree, next);
}

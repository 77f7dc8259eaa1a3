// Requests to the program behind the page. The token stays in this module and in `sessionStorage`; it is never in the address after the start.

import * as json from "./json.js";

const KEPT = "proof-token";

/** An answer that is an error. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {import("./contract.js").Problem} problem
   */
  constructor(status, problem) {
    super(problem.what);
    this.status = status;
    this.problem = problem;
  }
}

/** @param {any} error @returns {import("./contract.js").Problem} */
export const problemOf = (error) =>
  error instanceof ApiError ? error.problem : { what: `the page failed: ${error?.message ?? error}`, try: "reload it; if that does not help, report it" };

/** @param {import("./contract.js").Problem} problem */
export const problemText = (problem) =>
  [problem.at ? `${problem.what} (${problem.at})` : problem.what, problem.try].filter(Boolean).join(". ");

let token = "";

/**
 * Takes the token out of a fragment, or remembers that of this tab.
 * @param {string} fragment
 * @returns {string} the fragment without the token
 */
export function takeToken(fragment) {
  const params = new URLSearchParams(fragment.replace(/^#/, ""));
  const given = params.get("token");
  if (given) {
    token = given;
    remember(given);
    params.delete("token");
  } else {
    token = recall();
  }
  return params.toString();
}

export const hasToken = () => token !== "";

/** @param {string} value */
function remember(value) {
  try {
    sessionStorage.setItem(KEPT, value);
  } catch {
    // Storage is off: the token lasts as long as the page.
  }
}

function recall() {
  try {
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

/**
 * @param {string} path
 * @param {Record<string, string | number>} query
 */
export function address(path, query = {}) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) params.set(name, String(value));
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}

/**
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<Response>}
 */
export async function ask(path, init = {}) {
  const headers = new Headers(init.headers);
  headers.set("Authorization", `Bearer ${token}`);
  let response;
  try {
    response = await fetch(path, { ...init, headers });
  } catch (error) {
    if (/** @type {Error} */ (error).name === "AbortError") throw error;
    throw new ApiError(0, { what: "the program behind this page does not answer", try: "look whether it still runs in its terminal" });
  }
  if (response.ok) return response;
  throw new ApiError(response.status, await problemIn(response));
}

/** @param {Response} response */
async function problemIn(response) {
  try {
    const { error } = JSON.parse(await response.text());
    if (typeof error?.what === "string") return error;
  } catch {
    // Not the body of an error: the status says enough.
  }
  return { what: `HTTP status ${response.status}` };
}

/**
 * @param {string} path
 * @param {Record<string, string | number>} [query]
 * @param {AbortSignal} [signal]
 */
export async function get(path, query, signal) {
  const response = await ask(address(path, query), { signal });
  return json.parse(await response.text());
}

/**
 * @param {string} path
 * @param {any} body exact numbers go out as they were typed
 */
export async function post(path, body) {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: json.text(body, 0) };
  return json.parse(await (await ask(path, init)).text());
}

/**
 * Hands a file to the browser. A plain link could not send the token.
 * @param {string} path
 * @param {string} name
 */
export async function download(path, name) {
  save(await (await ask(path)).blob(), name);
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

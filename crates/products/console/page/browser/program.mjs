// Starts the program itself, for tests that need it behind the page.

import { spawn } from "node:child_process";
import { open } from "./driver.mjs";

export const proof = process.env.PAGE_PROOF;
if (!proof) throw new Error("PAGE_PROOF names no program – run `cargo xtask page`");
const running = [];

/** Ends everything that was started. */
export function end() {
  for (const child of running) child.kill("SIGTERM");
}

/** Starts a program and gives the first match in its output. */
export function started(words, wanted) {
  const child = spawn(proof, words, { stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  return new Promise((resolve, reject) => {
    let said = "";
    const read = (piece) => {
      said += piece;
      const found = wanted.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`proof ${words.join(" ")} exits with ${code}: ${said}`)));
  });
}

export const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+\S*/;

/** Opens `proof inspect` with these words, and closes it after `act`. Nothing may have gone wrong in the page. */
export async function inspected(browser, words, act, place = "") {
  const url = await started(["inspect", ...words], ADDRESS);
  const opened = await open(browser, { url, place });
  try {
    await opened.page.waitForFunction(() => ["open", "file"].includes(document.querySelector(".dot")?.dataset.state));
    await act(opened.page);
    if (opened.wrong.length > 0) throw new Error(opened.wrong.join("\n"));
  } finally {
    await opened.close();
  }
}

/** Chooses an item of the list of a view. */
export async function choose(page, name) {
  await page.getByRole("searchbox").fill(name);
  await page.waitForFunction((wanted) => [...document.querySelectorAll(".item-name")].some((node) => node.textContent === wanted), name);
  // The rows of the list are used again: the search must have been drawn.
  await page.waitForTimeout(200);
  await page.locator(".row:not([hidden])", { has: page.locator(`.item-name:text-is("${name}")`) }).first().click();
  await page.getByRole("heading", { name, exact: true }).waitFor();
}

/** Types arguments as JSON. */
export async function fill(page, value) {
  const json = page.getByRole("button", { name: /^JSON/ });
  if ((await json.getAttribute("aria-pressed")) !== "true") await json.click();
  await page.getByLabel("Arguments as JSON").fill(JSON.stringify(value));
}

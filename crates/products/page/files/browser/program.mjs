// Starts `proof` and servers for browser tests, and opens the page in front of them. Everything that was started ends with the test file.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { axe, launch, open } from "./driver.mjs";

export const proof = process.env.PAGE_PROOF;
if (!proof) throw new Error("PAGE_PROOF names no program – run `cargo xtask page`");

/** A folder that is gone after the tests. */
export const folder = mkdtempSync(join(tmpdir(), "page-"));
export const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+\S*/;
export const MCP = /http:\/\/127\.0\.0\.1:\d+\/mcp/;

const running = new Set();
let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser.close();
  for (const child of running) child.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a command; gives the first match in its output, and the child. */
export function start(command, wanted, more = {}) {
  const [program, ...words] = command;
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], cwd: folder, ...more });
  running.add(child);
  return new Promise((resolve, reject) => {
    let said = "";
    const read = (piece) => {
      said += piece;
      const found = wanted.exec(said);
      if (found) resolve({ found: found[0], child });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("error", reject);
    child.on("exit", (code) => {
      running.delete(child);
      reject(new Error(`${command.join(" ")} exits with ${code}: ${said}`));
    });
  });
}

/** What `proof` prints that matches. */
export const started = async (words, wanted, more) => (await start([proof, ...words], wanted, more)).found;

/** A port that nothing listens at. */
export function freePort() {
  return new Promise((resolve) => {
    const listener = createServer().listen(0, "127.0.0.1", () => {
      const { port } = listener.address();
      listener.close(() => resolve(port));
    });
  });
}

/** Opens the page of `proof inspect` with these words, waits for a state of its target, and acts. */
export async function on(words, act, { place = "", state = ["open", "file"], env, judge = (wrong) => assert.deepEqual(wrong, []) } = {}) {
  const { found: url, child } = await start([proof, "inspect", ...words], ADDRESS, env ? { env: { ...process.env, ...env } } : {});
  const opened = await open(browser, { url, place });
  try {
    await opened.page.waitForFunction((wanted) => wanted.includes(document.querySelector(".dot")?.dataset.state), state);
    await act(opened.page, { child, url });
    judge(opened.wrong);
  } catch (error) {
    if (process.env.PAGE_PICTURES) await opened.page.screenshot({ path: join(process.env.PAGE_PICTURES, "failed.png") }).catch(() => {});
    throw error;
  } finally {
    await opened.close();
    child.kill("SIGTERM");
  }
}

/** Selects an item of the list that is shown. */
export async function choose(page, name) {
  await page.getByRole("searchbox").fill(name);
  await page.waitForFunction((wanted) => [...document.querySelectorAll(".item-name")].some((node) => node.textContent === wanted), name);
  // The rows of the list are used again: the search must have been drawn.
  await page.waitForTimeout(200);
  await page.locator(".row:not([hidden])", { has: page.locator(`.item-name:text-is("${name}")`) }).first().click();
  await page.getByRole("heading", { name, exact: true }).waitFor();
}

/** Goes to a view by its key, from wherever the focus is. */
export async function view(page, key) {
  await page.keyboard.press("Escape");
  await page.keyboard.press(key);
}

/** The group of one member of a form. */
export const member = (scope, name) => scope.locator(`.member:has(label > bdi:text-is("${name}"))`).last();

/** Writes arguments as JSON and calls the tool that is shown. */
export async function call(page, given) {
  const box = page.getByLabel("Arguments as JSON");
  if (!(await box.count())) await page.keyboard.press("Control+j");
  await box.fill(typeof given === "string" ? given : JSON.stringify(given));
  await page.keyboard.press("Control+Enter");
}

/** Writes arguments as JSON, and sends nothing. */
export async function fill(page, given) {
  const json = page.getByRole("button", { name: /^JSON/ });
  if ((await json.getAttribute("aria-pressed")) !== "true") await json.click();
  await page.getByLabel("Arguments as JSON").fill(JSON.stringify(given));
}

/** Filters the traffic, and waits until this many rows are left. */
export async function filter(page, text, rows) {
  await view(page, "1");
  const box = page.getByRole("combobox", { name: "Filter" });
  await box.fill(text);
  await box.press("Enter");
  await page.waitForFunction((wanted) => new RegExp(`^${wanted} of`).test(document.querySelector(".amount")?.textContent ?? ""), rows);
}

/** Pictures of the part of the page that begins with `selector`, wide and narrow, light and dark; axe must find nothing. */
export async function looked(page, name, selector) {
  const pictures = process.env.PAGE_PICTURES;
  if (!pictures) throw new Error("PAGE_PICTURES names no folder – run `cargo xtask page`");
  mkdirSync(pictures, { recursive: true });
  await page.evaluate(readFileSync(axe, "utf8"));
  for (const size of [{ width: 400, height: 800 }, { width: 1440, height: 900 }]) {
    await page.setViewportSize(size);
    for (const theme of ["dark", "light"]) {
      await page.emulateMedia({ colorScheme: theme });
      await page.locator(selector).first().evaluate((node) => node.scrollIntoView());
      await page.waitForTimeout(120);
      await page.screenshot({ path: join(pictures, `${name}-${size.width}-${theme}.png`), animations: "disabled" });
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      assert.deepEqual(violations.map(({ id, nodes }) => `${theme}: ${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`), []);
    }
    assert.equal(await page.evaluate(() => document.documentElement.scrollTop), 0, "the page itself does not scroll");
    // What sticks out of the page makes the page scroll sideways.
    const wide = await page.evaluate(() => {
      const by = Math.max(...[...document.querySelectorAll("html, main")].map((node) => node.scrollWidth - node.clientWidth));
      const out = [...document.querySelectorAll("main *")].filter((node) => node.getBoundingClientRect().right > innerWidth && !node.closest(".scroll, .exchange"));
      return by > 0 ? [`${by} px`, ...out.slice(0, 5).map((node) => node.outerHTML.slice(0, 120))] : [];
    });
    assert.deepEqual(wide, [], "nothing is wider than the window");
  }
}

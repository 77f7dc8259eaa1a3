// Tasks of both kinds, on the reference server: started from a tool's form, followed, read, cancelled.
import test from "node:test";
import assert from "node:assert/strict";
import { choose, fill, on, proof } from "./program.mjs";
import { taken } from "./pictures.mjs";

const at = (revision) => ["--revision", revision, "--", proof, "serve", "--stdio"];
const status = (page, wanted) => page.waitForFunction((word) => document.querySelector(".detail-head .status-word")?.textContent === word, wanted);

/** Starts the slow tool as a task from its form, and goes to the task. */
async function begun(page, steps) {
  await page.keyboard.press("2");
  await choose(page, "slow");
  await fill(page, { steps, delay_ms: 100 });
  await page.keyboard.press("Control+Shift+Enter");
  await page.getByRole("button", { name: "Show the task" }).click();
  await page.getByRole("heading", { name: "slow", exact: true }).waitFor();
  await status(page, "working");
  await page.locator(".detail").click({ position: { x: 5, y: 5 } });
}

test("2025-11-25: the client asks for a task, polls it, reads its result, cancels another and lists them", () => on(at("2025-11-25"), async (page) => {
  await begun(page, 15);
  await status(page, "completed");
  assert.equal(await page.locator(".outcome").count(), 0, "the result is read on demand");
  await page.keyboard.press("o");
  await page.locator(".outcome").getByText(/15 steps/i).first().waitFor();
  await taken(page, "tasks");
  await page.keyboard.press("Escape");
  await begun(page, 100);
  await page.keyboard.press("x");
  await status(page, "cancelled");
  await page.keyboard.press("l");
  await page.getByText("The server keeps 2 tasks").waitFor();
  const badges = await page.$$eval(".row:not([hidden]) .item-badge", (nodes) => nodes.map((node) => node.textContent));
  assert.deepEqual(badges, ["cancelled", "completed"]);
}));

test("2026-07-28: the server makes a task of the call; without the button it does not", () => on(at("2026-07-28"), async (page) => {
  await begun(page, 15);
  await status(page, "completed");
  await page.locator(".outcome").getByText(/15 steps/i).first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  await choose(page, "slow");
  await fill(page, { steps: 2, delay_ms: 10 });
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction(() => document.querySelector(".outcome .status-word")?.textContent === "ok" && !document.querySelector(".outcome")?.textContent.includes("goes on as a task"));
  await page.locator(".outcome .block").first().waitFor();
  await page.keyboard.press("Escape");
  await begun(page, 100);
  await page.keyboard.press("x");
  await page.keyboard.press("p");
  await status(page, "cancelled");
}));

test("a revision without tasks offers none", () => on(at("2025-06-18"), async (page) => {
  await page.keyboard.press("2");
  await choose(page, "slow");
  assert.equal(await page.getByRole("button", { name: "Start as a task" }).count(), 0);
  await page.keyboard.press("9");
  await page.getByText("No task crossed yet.").waitFor();
}));

// The page in front of server-everything, the protocol's own example server, over both transports.
import test from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, choose, filter, folder, freePort, member, on, proof, start, view } from "./program.mjs";

const command = JSON.parse(process.env.PAGE_EVERYTHING ?? "null");
if (!command) throw new Error("PAGE_EVERYTHING names no command – run `cargo xtask page`");

/** A form, a question of the server, a call that is cancelled. */
async function calls(page) {
  await page.keyboard.press("2");
  await choose(page, "get-sum");
  for (const [name, value] of [["a", "2"], ["b", "40"]]) await member(page, name).getByRole("textbox").fill(value);
  await page.keyboard.press("Control+Enter");
  await page.locator(".outcome").getByText("The sum of 2 and 40 is 42.").waitFor();
  await choose(page, "get-structured-content");
  await member(page, "location").locator("select").selectOption({ label: "Chicago" });
  await page.keyboard.press("Control+Enter");
  await page.getByRole("tree", { name: "Structured content" }).getByText(/temperature/).waitFor();
  await choose(page, "trigger-elicitation-request");
  await page.keyboard.press("Control+Enter");
  const question = page.locator("[data-question]");
  await member(question, "name").getByRole("textbox").first().fill("Ada");
  await question.getByRole("button", { name: /^Accept/ }).click();
  await page.locator(".outcome").getByText(/Name: Ada/).waitFor();
  await choose(page, "trigger-long-running-operation");
  await call(page, { duration: 60, steps: 300 });
  await page.locator(".progress").getByText(/of 300/).waitFor();
  await page.locator(".outcome").getByRole("button", { name: "Cancel" }).click();
  await page.locator(".outcome .status-word[data-status=cancelled]").waitFor();
}

/** A resource that is read and subscribed to, a template, an argument that the server completes. */
async function reads(page) {
  await view(page, "3");
  const resource = "demo://resource/static/document/features.md";
  await choose(page, resource);
  await page.getByRole("button", { name: /^Read/ }).click();
  await page.locator(".outcome .block").first().getByText(/Features/).first().waitFor();
  await page.getByRole("button", { name: "Subscribe", exact: true }).click();
  await page.getByRole("button", { name: "Unsubscribe" }).waitFor();
  await view(page, "6");
  await page.getByText(resource).first().waitFor();
  await view(page, "4");
  await choose(page, "completable-prompt");
  await member(page, "department").getByRole("combobox").fill("Eng");
  await page.waitForFunction(() => [...document.querySelectorAll("datalist option")].some((option) => option.value === "Engineering"));
  await member(page, "department").getByRole("combobox").fill("Engineering");
  await member(page, "name").getByRole("combobox").fill("B");
  await page.waitForFunction(() => [...document.querySelectorAll("datalist option")].some((option) => option.value === "Bob"));
  await member(page, "name").getByRole("combobox").fill("Bob");
  await page.getByRole("button", { name: /^Get/ }).click();
  await page.locator(".outcome").getByText("Please promote Bob to the head of the Engineering team.").waitFor();
}

/** Edits and sends again, compares, and runs what was saved as a test. */
async function keeps(page) {
  await filter(page, "tool:get-sum", 1);
  await page.locator(".row").first().click();
  await page.locator(".row-detail .tree").first().waitFor();
  await page.locator(".list").focus();
  await page.keyboard.press("v");
  await page.keyboard.press("e");
  await page.getByLabel("Params").fill('{ "name": "get-sum", "arguments": { "a": 2, "b": 41 } }');
  await page.keyboard.press("Control+Enter");
  await filter(page, "tool:get-sum status:ok", 2);
  await page.locator(".row").first().click();
  await page.locator(".list").focus();
  await page.keyboard.press("m");
  await page.keyboard.press("j");
  await page.keyboard.press("=");
  const answer = page.getByRole("region", { name: "Answer" });
  assert.match(await answer.locator("[data-sign='-']").innerText(), /2 and 40 is 42/);
  assert.match(await answer.locator("[data-sign='+']").innerText(), /2 and 41 is 43/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("v");
  await page.keyboard.press("t");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("2 cases").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("button", { name: "Save" }).click()]);
  const file = join(folder, "recorded.mcp.yaml");
  await download.saveAs(file);
  const run = spawnSync(proof, ["test", file], { encoding: "utf8", cwd: folder });
  assert.equal(run.status, 0, `${readFileSync(file, "utf8")}\n${run.stdout}${run.stderr}`);
  assert.match(run.stdout + run.stderr, /2 passed/);
}

async function everything(page) {
  await calls(page);
  await reads(page);
  await keeps(page);
}

test("server-everything over stdio: call, answer, cancel, read, subscribe, complete, filter, edit, compare, keep", () => on(["--", ...command, "stdio"], everything));

test("server-everything over HTTP: the same", async () => {
  const port = await freePort();
  await start([...command, "streamableHttp"], /listening on port/i, { env: { ...process.env, PORT: String(port) } });
  await on([`http://127.0.0.1:${port}/mcp`], everything);
});

// The page and the program together: `proof inspect` in front of the reference server, over stdio and HTTP and of each era, and a
// recording. What is saved as a test is run by `proof test`.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open } from "./driver.mjs";

const proof = process.env.PAGE_PROOF;
if (!proof) throw new Error("PAGE_PROOF names no program – run `cargo xtask page`");
const folder = mkdtempSync(join(tmpdir(), "page-"));
const running = [];
let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser.close();
  for (const child of running) child.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a program and gives the first match in its output. */
function started(words, wanted) {
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

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/;
const serve = ["--", proof, "serve", "--stdio"];

async function on(words, act, place = "") {
  const url = await started(["inspect", ...words], ADDRESS);
  const opened = await open(browser, { url, place });
  try {
    await opened.page.waitForFunction(() => document.querySelector(".dot")?.dataset.state === "open" || document.querySelector(".dot")?.dataset.state === "file");
    await act(opened.page);
    assert.deepEqual(opened.wrong, []);
  } finally {
    await opened.close();
  }
}

async function choose(page, name) {
  await page.getByRole("searchbox").fill(name);
  await page.waitForFunction((wanted) => [...document.querySelectorAll(".item-name")].some((node) => node.textContent === wanted), name);
  // The rows of the list are used again: the search must have been drawn.
  await page.waitForTimeout(200);
  await page.locator(".row:not([hidden])", { has: page.locator(`.item-name:text-is("${name}")`) }).first().click();
  await page.getByRole("heading", { name, exact: true }).waitFor();
}

async function session(page) {
  await page.keyboard.press("2");
  await choose(page, "sum");
  for (const [name, value] of [["a", "2"], ["b", "3"]]) {
    const field = page.locator(`[id="tool-sum/${name}"]`);
    if (!(await field.count())) await page.locator(".member", { hasText: name }).getByRole("button", { name: "value" }).first().click();
    await field.fill(value);
  }
  await page.keyboard.press("Control+Enter");
  await page.getByRole("tree", { name: "Structured content" }).getByText("5").waitFor();
  await choose(page, "ask");
  await page.getByRole("button", { name: /^(Call|Send anyway)/ }).click();
  const question = page.locator("[data-question]");
  await question.getByText("What is your name?").waitFor();
  await question.locator("input").first().fill("Ada");
  await question.getByRole("button", { name: /^Accept/ }).click();
  await page.locator(".outcome").getByText(/Ada/).waitFor();
  await choose(page, "slow");
  await page.getByRole("button", { name: "JSON" }).click();
  await page.getByLabel("Arguments as JSON").fill('{ "steps": 100, "delay_ms": 100 }');
  await page.keyboard.press("Control+Enter");
  await page.locator(".progress").getByText(/Step/).waitFor();
  await page.locator(".outcome").getByRole("button", { name: "Cancel" }).click();
  await page.locator(".outcome").getByText("cancelled").waitFor();
}

/** Filters, sends again, compares, and runs what was saved as a test. */
async function kept(page) {
  await page.keyboard.press("Escape");
  await page.keyboard.press("1");
  const box = page.getByRole("combobox", { name: "Filter" });
  await box.fill("tool:sum status:ok");
  await box.press("Enter");
  await page.waitForFunction(() => /^1 of/.test(document.querySelector(".amount").textContent));
  await page.locator(".row").first().click();
  await page.locator(".row-detail .tree").first().waitFor();
  const first = new URL(page.url()).hash;
  await page.locator(".list").focus();
  await page.keyboard.press("r");
  await page.waitForFunction((before) => location.hash !== before, first);
  await page.getByRole("button", { name: /^Compare with/ }).click();
  await page.getByText("Equal.").first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("v");
  await page.keyboard.press("t");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 case").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("button", { name: "Save" }).click()]);
  const file = join(folder, "recorded.mcp.yaml");
  await download.saveAs(file);
  const run = spawnSync(proof, ["test", file], { encoding: "utf8", cwd: folder });
  assert.equal(run.status, 0, `${readFileSync(file, "utf8")}\n${run.stdout}${run.stderr}`);
}

test("a server over stdio, of the modern era: call, answer, cancel, filter, compare, keep", () => on(serve, async (page) => {
  await session(page);
  await kept(page);
}));

test("a server over stdio, of the legacy era", () => on(["--revision", "2025-11-25", ...serve], session));

test("a server over HTTP; resources, prompts, another revision", async () => {
  const url = await started(["serve", "--http", "127.0.0.1:0"], /http:\/\/127\.0\.0\.1:\d+\/mcp/);
  await on([url], async (page) => {
    await session(page);
    await page.keyboard.press("Escape");
    await page.keyboard.press("3");
    await page.locator(".row").first().click();
    await page.getByRole("button", { name: /^Read/ }).click();
    await page.locator(".outcome .block").first().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("4");
    await page.locator(".row").first().click();
    await page.locator(".detail h2").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("6");
    await page.getByLabel("Revision").selectOption("2025-06-18");
    await page.getByRole("button", { name: "Reconnect" }).click();
    await page.waitForFunction(() => document.querySelector(".rail-foot")?.textContent.includes("2025-06-18"));
    await page.keyboard.press("8");
    await page.waitForFunction(() => document.title.startsWith("Log"));
  });
});

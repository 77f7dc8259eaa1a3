// A server that puts fifty hostile strings into every field: no script runs, nothing leaves, the layout holds.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { HOSTILE } from "../test/fake-data.mjs";
import { message } from "../test/fake.mjs";
import { launch, open, rowsOf } from "./driver.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

async function holds(page, where) {
  const state = await page.evaluate(() => ({
    hit: window.hit, wide: document.documentElement.scrollWidth - innerWidth, tall: document.documentElement.scrollHeight - innerHeight,
    frames: document.querySelectorAll("iframe, object, embed, form, base, #app script, #app style, #app link, #app meta").length,
    addresses: [...document.querySelectorAll("a")].map((link) => link.getAttribute("href")).filter((href) => !href.startsWith("#")),
  }));
  assert.deepEqual(state, { hit: undefined, wide: 0, tall: 0, frames: 0, addresses: [] }, where);
}

async function on(place, act, size = {}) {
  const opened = await open(browser, { place, fake: { hostile: true, rows: HOSTILE.length * 2 }, ...size });
  try {
    await act(opened);
    await holds(opened.page, place);
    assert.deepEqual(opened.wrong, []);
  } finally {
    await opened.close();
  }
}

test("there are fifty of them", () => assert.ok(HOSTILE.length >= 50, `${HOSTILE.length}`));

test("in every row and its details", () => on("", async ({ page }) => {
  await page.waitForSelector(".row");
  const heights = await page.$$eval(".row:not([hidden])", (rows) => rows.map((row) => row.getBoundingClientRect().height));
  assert.deepEqual([...new Set(heights)], [24]);
  await page.keyboard.press("g");
  for (let n = 1; n <= HOSTILE.length; n += 1) {
    await page.waitForFunction((wanted) => document.querySelector(".facts")?.textContent.includes(`row ${wanted}`), n);
    for (const fold of await page.$$(".fold[aria-expanded=false]")) await fold.click();
    await holds(page, `row ${n}: ${HOSTILE[n % HOSTILE.length].slice(0, 60)}`);
    await page.locator(".list").focus();
    await page.keyboard.press("j");
  }
}));

for (const [view, button] of [["tools", /^Call/], ["prompts", /^Get/], ["resources", /^Read/]]) {
  test(`in ${view} and what they return`, () => on(`view=${view}`, async ({ page }) => {
    await page.waitForSelector(".row");
    const many = HOSTILE.length * (view === "resources" ? 2 : 1);
    await page.locator(".list").focus();
    for (let n = 0; n < many; n += 1) {
      await page.keyboard.press("j");
      await page.locator(".detail h2").waitFor();
      if (n % 5 === 0) {
        const send = page.locator("[data-send-button]").first();
        await send.click();
        if (await page.getByRole("button", { name: "Send anyway" }).count()) await send.click();
        await page.locator(".outcome").waitFor();
      }
      await holds(page, `${view} ${n}: ${HOSTILE[n % HOSTILE.length].slice(0, 60)}`);
      await page.locator(".list").focus();
    }
  }));
}

for (const view of ["findings", "server", "questions", "log"]) {
  test(`in ${view}`, () => on(`view=${view}`, async ({ page, server }) => {
    server.questions = HOSTILE.slice(0, 20).map((text, at) => ({ question: at + 1, target: 1, kind: ["form", "url", "sampling", text][at % 4], at: 1, message: text, url: text, schema: { type: "object", properties: { [text]: { type: text, title: text, enum: [text] } } }, params: { systemPrompt: text, messages: [{ role: text, content: { type: "text", text } }] } }));
    server.tellState();
    await page.waitForTimeout(400);
    await page.keyboard.press("j");
    await page.waitForTimeout(100);
  }));
}

test("in tasks", () => on("view=tasks", async ({ page, server }) => {
  server.tasks = HOSTILE.map((text, at) => ({ task: text, session: 1, row: at + 1, method: text, name: text, asked: at % 3 ? "out" : "in", seen: at + 1, result: at + 1, status: at % 4 ? text : "working", message: text, created: text, updated: text, ttl: at, poll: 100_000 }));
  server.tellState();
  await page.waitForSelector(".row");
  await page.locator(".list").focus();
  for (let n = 0; n < HOSTILE.length; n += 1) {
    await page.keyboard.press("j");
    await page.locator(".detail h2").waitFor();
    await page.locator(".outcome, .problem").first().waitFor();
    await holds(page, `task ${n}: ${HOSTILE[n].slice(0, 60)}`);
  }
}));

/** Adds a session whose server listed hostile tools. */
function lists(server, session, text) {
  const told = (method, result) => {
    const n = server.rows.length + 1;
    const parts = [message(0, "request", { jsonrpc: "2.0", id: n, method, params: {} }), message(1, "response", { jsonrpc: "2.0", id: n, result })];
    server.push(server.row({ session, method, id: String(n) }), parts);
  };
  told("initialize", { serverInfo: { name: text, version: text }, capabilities: { tools: {}, [text]: { [text]: text } }, instructions: text });
  told("tools/list", { tools: HOSTILE.map((one) => ({ name: one, title: text + one, description: one, inputSchema: { [one]: text } })) });
}

for (const width of [1440, 400]) {
  test(`in comparisons, at ${width} pixels`, () => on("view=server", async ({ page, server }) => {
    server.session = 2;
    HOSTILE.slice(0, 2).forEach((text, at) => lists(server, at + 1, text));
    server.tellState();
    // The key compares the sessions that the page knows by then.
    await page.waitForTimeout(500);
    await page.keyboard.press("D");
    await page.locator(".offered").first().waitFor();
    assert.ok((await page.locator(".offered").count()) >= HOSTILE.length - 5);
    for (const one of await page.locator(".offered > summary").all()) await one.click();
    await holds(page, "comparison");
  }, { width, height: 800 }));
}

test("in the palette, and at 400 pixels", () => on("view=tools", async ({ page }) => {
  await page.waitForSelector(".row");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("script");
  await page.getByRole("option").first().waitFor();
  await holds(page, "palette");
  await page.keyboard.press("Escape");
  for (const key of ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(150);
    await page.keyboard.press("j");
    await page.waitForTimeout(50);
    await holds(page, `view ${key}`);
  }
}, { width: 400, height: 800 }));

test("characters that turn text are shown as escapes", () => on("", async ({ page }) => {
  await page.waitForSelector(".row");
  await page.keyboard.press("g");
  const texts = (await page.$$eval(".row", (rows) => rows.map((row) => row.textContent))).join("\n");
  assert.match(texts, /\\u202egnp\.exe/);
  // The order of what is seen is not turned by what a stranger sent.
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(texts));
  assert.ok((await rowsOf(page)).length >= 36);
}));

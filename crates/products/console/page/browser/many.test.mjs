// 100,000 messages and 5,000 tools: nothing keeps the page busy for 50 ms, and what it holds is bounded.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { launch, open, rowsOf } from "./driver.mjs";

const LIMIT = 50;
let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** The longest task of the page while something happens; the better of two, as the machine may be busy. */
async function longest(page, act) {
  const seen = [];
  for (let run = 0; run < 2; run += 1) {
    await page.evaluate(() => { window.longest = 0; });
    await act(run);
    await page.waitForTimeout(200);
    seen.push(await page.evaluate(() => window.longest));
  }
  return Math.min(...seen);
}

test("100,000 messages scroll and filter", async () => {
  const { page, wrong, close } = await open(browser, { fake: { rows: 100_000 } });
  await page.waitForFunction(() => document.querySelector(".amount")?.textContent === "100,000 rows");
  const scrolled = await longest(page, () => page.evaluate(async () => {
    const list = document.querySelector(".list");
    list.scrollTop = 0;
    for (let frame = 0; frame < 60; frame += 1) {
      list.scrollTop += 1777;
      await new Promise(requestAnimationFrame);
    }
  }));
  assert.ok(scrolled < LIMIT, `scrolling kept the page busy for ${scrolled} ms`);
  await page.waitForFunction(() => [...document.querySelectorAll(".row:not([hidden])")].every((row) => row.textContent !== ""));
  const box = page.getByRole("combobox", { name: "Filter" });
  const filtered = await longest(page, async (run) => {
    await box.fill(run ? "status:error" : "name:echo");
    await box.press("Enter");
    await page.waitForFunction(() => document.querySelector(".amount").textContent.includes(" of 100,000"));
  });
  assert.ok(filtered < LIMIT, `filtering kept the page busy for ${filtered} ms`);
  await page.keyboard.press("Escape");
  const jumped = await longest(page, async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("G");
  });
  assert.ok(jumped < LIMIT, `jumping kept the page busy for ${jumped} ms`);
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 2000, `${nodes} elements`);
  assert.deepEqual(wrong, []);
  console.log(`# scroll ${scrolled} ms, filter ${filtered} ms, jump ${jumped} ms (0: below 50), ${nodes} elements`);
  await close();
});

test("5,000 tools are searched", async () => {
  const { page, server, wrong, close } = await open(browser, { place: "view=server" });
  const tools = Array.from({ length: 5000 }, (_, at) => ({ name: `tool_${at}`, description: `Does the ${at}th thing.`, inputSchema: { type: "object" } }));
  const post = server.post.bind(server);
  server.post = async (path, body) => (path === "/api/list" && body.what === "tools" ? { items: tools, pages: 1, rows: [1], error: null } : post(path, body));
  await page.keyboard.press("2");
  await page.waitForFunction(() => document.querySelector(".search input")?.placeholder.includes("5,000"));
  const searched = await longest(page, (run) => page.getByRole("searchbox").fill(run ? "4999" : "tool_12"));
  assert.ok(searched < LIMIT, `searching kept the page busy for ${searched} ms`);
  assert.match((await rowsOf(page))[0].text, /tool_4999/);
  assert.deepEqual(wrong, []);
  await close();
});

test("a flood of changes is shown without blocking", async () => {
  const { page, server, wrong, close } = await open(browser, { fake: { rows: 1000 } });
  await page.waitForSelector(".row");
  const flooded = await longest(page, async () => {
    for (let block = 0; block < 50; block += 1) {
      server.tell(Array.from({ length: 100 }, () => server.row({ method: "tools/call", name: "flood" })));
      await new Promise((done) => setTimeout(done, 20));
    }
  });
  await page.waitForFunction(() => document.querySelector(".amount").textContent === "11,000 rows");
  assert.ok(flooded < LIMIT, `the flood kept the page busy for ${flooded} ms`);
  assert.ok((await rowsOf(page)).at(-1).text.startsWith("11000"));
  assert.deepEqual(wrong, []);
  await close();
});

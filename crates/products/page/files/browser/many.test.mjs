// 100,000 messages and 5,000 tools: no frame, filter or jump costs the page 50 ms, and what it holds is bounded.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { cost, launch, open, rowsOf } from "./driver.mjs";

const LIMIT = 50;
let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

test("100,000 messages scroll and filter", async () => {
  const { page, wrong, close } = await open(browser, { fake: { rows: 100_000 } });
  await page.waitForFunction(() => document.querySelector(".amount")?.textContent === "100,000 rows");
  const frames = 60;
  const scrolled = (await cost(page, () => page.evaluate(async (frames) => {
    const list = document.querySelector(".list");
    list.scrollTop = 0;
    for (let frame = 0; frame < frames; frame += 1) {
      list.scrollTop += 1777;
      await new Promise(requestAnimationFrame);
    }
  }, frames))) / frames;
  assert.ok(scrolled < LIMIT, `a frame costs ${scrolled} ms`);
  await page.waitForFunction(() => [...document.querySelectorAll(".row:not([hidden])")].every((row) => row.textContent !== ""));
  const box = page.getByRole("combobox", { name: "Filter" });
  const filtered = await cost(page, async () => {
    await box.fill("name:echo");
    await box.press("Enter");
    await page.waitForFunction(() => document.querySelector(".amount").textContent.includes(" of 100,000"), null, { polling: 50 });
  });
  assert.ok(filtered < LIMIT, `filtering costs ${filtered} ms`);
  await page.keyboard.press("Escape");
  const jumped = await cost(page, async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("G");
  });
  assert.ok(jumped < LIMIT, `two jumps cost ${jumped} ms`);
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 2000, `${nodes} elements`);
  assert.deepEqual(wrong, []);
  console.log(`a frame ${scrolled.toFixed(1)} ms, a filter ${filtered.toFixed(1)} ms, two jumps ${jumped.toFixed(1)} ms, ${nodes} elements`);
  await close();
});

test("5,000 tools are searched", async () => {
  const { page, server, wrong, close } = await open(browser, { place: "view=server" });
  const tools = Array.from({ length: 5000 }, (_, at) => ({ name: `tool_${at}`, description: `Does the ${at}th thing.`, inputSchema: { type: "object" } }));
  const post = server.post.bind(server);
  server.post = async (path, body) => (path === "/api/list" && body.what === "tools" ? { items: tools, pages: 1, rows: [1], error: null } : post(path, body));
  await page.keyboard.press("2");
  await page.waitForFunction(() => document.querySelector(".search input")?.placeholder.includes("5,000"));
  const searched = await cost(page, () => page.getByRole("searchbox").fill("tool_12"));
  assert.ok(searched < LIMIT, `a search costs ${searched} ms`);
  await page.getByRole("searchbox").fill("4999");
  await page.waitForFunction(() => document.querySelector(".list").getAttribute("aria-rowcount") === "2");
  assert.match((await rowsOf(page))[0].text, /tool_4999/);
  console.log(`a search in 5,000 tools ${searched.toFixed(1)} ms`);
  assert.deepEqual(wrong, []);
  await close();
});

test("a flood of changes is shown without blocking", async () => {
  const { page, server, wrong, close } = await open(browser, { fake: { rows: 1000 } });
  await page.waitForSelector(".row");
  const blocks = 50;
  const flooded = (await cost(page, async () => {
    for (let block = 0; block < blocks; block += 1) {
      server.tell(Array.from({ length: 100 }, () => server.row({ method: "tools/call", name: "flood" })));
      await new Promise((done) => setTimeout(done, 20));
    }
  })) / blocks;
  await page.waitForFunction((rows) => document.querySelector(".amount").textContent === `${rows.toLocaleString("en")} rows`, server.rows.length);
  await page.waitForFunction((last) => [...document.querySelectorAll(".row:not([hidden])")].some((row) => row.textContent.startsWith(String(last))), server.rows.length);
  assert.ok(flooded < LIMIT, `a block of 100 rows costs ${flooded} ms`);
  assert.ok((await rowsOf(page)).at(-1).text.startsWith(String(server.rows.length)));
  console.log(`a block of 100 rows ${flooded.toFixed(1)} ms`);
  assert.deepEqual(wrong, []);
  await close();
});

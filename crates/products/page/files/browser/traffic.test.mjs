import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { launch, open, rowsOf } from "./driver.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

async function on(options, act) {
  const opened = await open(browser, options);
  try {
    await opened.page.waitForSelector(".list");
    await act(opened);
    assert.deepEqual(opened.wrong, []);
  } finally {
    await opened.close();
  }
}

test("36 messages are in sight at 1440 × 900, and the newest is the last", () => on({ fake: { rows: 200 } }, async ({ page }) => {
  await page.waitForFunction(() => document.querySelector(".list").textContent.includes("200"));
  const rows = await rowsOf(page);
  assert.ok(rows.length >= 36, `${rows.length} rows`);
  assert.match(rows.at(-1).text, /^200/);
}));

test("the token leaves the address and stays in the tab", () => on({}, async ({ page }) => {
  assert.ok(!page.url().includes("token"), page.url());
  await page.reload();
  await page.waitForSelector(".row");
  assert.ok(!(await page.content()).includes("0123456789abcdef"));
}));

test("keys move: j k g G, Enter into the details, Escape back and out", () => on({ fake: { rows: 200 } }, async ({ page }) => {
  await page.waitForSelector(".row");
  await page.keyboard.press("g");
  await page.waitForFunction(() => location.hash.includes("at=1"));
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.waitForFunction(() => location.hash.includes("at=2"));
  await page.waitForSelector(".row-detail .tree");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.closest(".detail") !== null);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement.getAttribute("role") === "grid");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !location.hash.includes("at="));
  await page.keyboard.press("G");
  await page.waitForFunction(() => location.hash.includes("at=200"));
}));

test("a finding stands beside its message, at its place in the tree", () => on({ place: "at=16" }, async ({ page }) => {
  const part = page.locator(".part", { has: page.locator(".finding") });
  assert.match(await part.locator(".finding .why").innerText(), /Two tools are called echo/);
  assert.match(await part.locator(".leaf.broken").innerText(), /name: "echo"/);
  await page.getByRole("button", { name: "Explain" }).click();
  await page.getByRole("dialog").getByText("Names of tools are unique.").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("]");
  await page.waitForFunction(() => location.hash.includes("at=24"));
}));

test("the filter completes, filters, and says where it is wrong", () => on({ fake: { rows: 200 } }, async ({ page }) => {
  await page.waitForSelector(".row");
  await page.keyboard.press("/");
  await page.keyboard.type("status:e");
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".amount").textContent.includes(" of 200"));
  assert.equal(await page.getByRole("combobox", { name: "Filter" }).inputValue(), "status:error");
  assert.ok((await rowsOf(page)).every(({ text }) => text.includes("error")));
  await page.getByRole("combobox", { name: "Filter" }).fill("nonsense:1");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("there is no nonsense").waitFor();
  assert.ok((await rowsOf(page)).length > 0, "the list stays");
  await page.getByRole("combobox", { name: "Filter" }).fill("name:nothing-like-it");
  await page.keyboard.press("Enter");
  await page.getByText("No row matches the filter.").waitFor();
  await page.getByRole("button", { name: "Show all rows" }).click();
  await page.waitForFunction(() => document.querySelector(".amount").textContent === "200 rows");
}));

test("new rows appear; following stops where the reader goes up", () => on({ fake: { rows: 100 } }, async ({ page, server }) => {
  await page.waitForSelector(".row");
  server.push(server.row({ method: "ping", name: "fresh" }));
  await page.getByText("fresh").waitFor();
  await page.locator(".list").hover();
  await page.mouse.wheel(0, -600);
  await page.waitForFunction(() => document.querySelector(".toolbar [aria-pressed]").getAttribute("aria-pressed") === "false");
  server.push(server.row({ method: "ping", name: "fresher" }));
  await page.waitForFunction(() => document.querySelector(".amount").textContent === "102 rows");
  assert.ok(!(await rowsOf(page)).some(({ text }) => text.includes("fresher")));
  await page.keyboard.press("f");
  await page.waitForFunction(() => [...document.querySelectorAll(".row:not([hidden])")].some((row) => row.textContent.includes("fresher")));
}));

test("a message is sent again, and edited and sent", () => on({ place: "at=2" }, async ({ page, server }) => {
  await page.waitForSelector(".row-detail");
  await page.keyboard.press("r");
  await page.waitForFunction(() => location.hash.includes("at=61"));
  assert.deepEqual(server.posts[0].body.params, { name: "every", arguments: { text: "message 2", count: 2 } });
  await page.keyboard.press("e");
  const params = page.getByLabel("Params");
  await params.fill('{ "name": "echo", "arguments": { "n": 9007199254740993 } }');
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction(() => location.hash.includes("at=62"));
  assert.match(server.posts[1].text, /"n":9007199254740993/);
  await page.keyboard.press("e");
  await page.getByRole("button", { name: "Raw message" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("{ not json");
  await page.getByRole("dialog").getByRole("button", { name: /^Send/ }).click();
  await page.waitForFunction(() => location.hash.includes("at=63"));
  assert.equal(server.posts[2].body.text, "{ not json");
}));

test("two messages are compared", () => on({ place: "at=2" }, async ({ page }) => {
  await page.waitForSelector(".row-detail");
  await page.keyboard.press("m");
  await page.keyboard.press("j");
  await page.getByRole("button", { name: /^Compare with 2/ }).waitFor();
  await page.keyboard.press("=");
  const answer = page.getByRole("region", { name: "Answer" });
  assert.match(await answer.locator("[data-sign='-']").innerText(), /answer 2/);
  assert.match(await answer.locator("[data-sign='+']").innerText(), /answer 3/);
}));

test("marked messages become a test file", () => on({ place: "at=2" }, async ({ page, server }) => {
  await page.waitForSelector(".row-detail");
  await page.keyboard.press("v");
  await page.keyboard.press("j");
  await page.keyboard.press("v");
  await page.keyboard.press("t");
  await page.getByText("2 cases").waitFor();
  assert.deepEqual(server.posts[0].body, { rows: [2, 3] });
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save" }).click()]);
  assert.equal(download.suggestedFilename(), "recorded.mcp.yaml");
}));

test("every view and the theme by keys, the palette by letters", () => on({}, async ({ page }) => {
  for (const [key, title] of ["2 Tools", "3 Resources", "4 Prompts", "5 Findings", "6 Server", "7 Questions", "8 Log", "1 Traffic"].map((pair) => pair.split(" "))) {
    await page.keyboard.press(key);
    await page.waitForFunction((wanted) => document.title.startsWith(wanted), title);
  }
  await page.keyboard.press("Control+k");
  await page.keyboard.type("echo");
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "echo" }).waitFor();
  await page.waitForFunction(() => location.hash.includes("item="));
  await page.goBack();
  await page.waitForFunction(() => document.title.startsWith("Traffic"));
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.getByRole("button", { name: "Letters as keys" }).click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  assert.match(await page.title(), /Traffic/);
}));

test("a trace without a server can be read", () => on({ fake: { kind: "trace" }, place: "view=tools" }, async ({ page }) => {
  await page.getByText("No server is connected.").first().waitFor();
  await page.keyboard.press("6");
  await page.getByText("This is a recording").waitFor();
}));

test("a wrong token and a lost server are said", async () => {
  const opened = await open(browser, {});
  await opened.page.waitForSelector(".row");
  opened.server.close();
  await opened.page.getByText("The connection to proof inspect is lost").waitFor();
  await opened.close();
  const other = await open(browser, {});
  await other.page.evaluate(() => sessionStorage.clear());
  await other.page.goto("about:blank");
  await other.page.goto(`${other.server.origin}/`);
  await other.page.getByText("This address has no token").waitFor();
  await other.close();
});

import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { launch, open } from "./driver.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

async function on(place, act, fake = {}) {
  const opened = await open(browser, { place, fake });
  try {
    await act(opened);
    assert.deepEqual(opened.wrong, []);
  } finally {
    await opened.close();
  }
}

const tool = (name) => async (page) => {
  await page.getByRole("searchbox").fill(name);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name, exact: true }).waitFor();
};
const sent = (server) => server.posts.filter(({ path }) => path === "/api/request").at(-1);
const member = (page, name) => page.locator(".member").filter({ has: page.locator(`label:text-is("${name}"), label > bdi:text-is("${name}")`) }).last();

test("a form has three states for each member, and its JSON says the same", () => on("view=tools", async ({ page, server }) => {
  await tool("every")(page);
  await member(page, "text").getByRole("textbox").fill("héllo");
  await member(page, "mode").getByRole("button", { name: "null" }).click();
  await member(page, "tags").getByRole("button", { name: "value" }).click();
  await page.getByRole("button", { name: "Add item" }).click();
  await page.getByRole("button", { name: "Add item" }).click();
  await page.locator("#tool-every\\/tags\\/1").fill("two");
  await page.getByRole("button", { name: "Remove item 0" }).click();
  await member(page, "place").getByRole("button", { name: "value" }).first().click();
  await member(page, "city").getByRole("textbox").fill("Paris");
  await member(page, "zip").getByRole("button", { name: "null" }).click();
  await member(page, "any").getByRole("button", { name: "value" }).click();
  await member(page, "any").getByRole("textbox").fill('{"free":[1]}');
  await page.keyboard.press("Control+j");
  const twin = page.getByLabel("Arguments as JSON");
  const expected = { text: "héllo", count: 2, mode: null, tags: ["two"], place: { city: "Paris", zip: null }, any: { free: [1] } };
  assert.deepEqual(JSON.parse(await twin.inputValue()), expected);
  await twin.fill((await twin.inputValue()).replace('"count": 2', '"count": 9007199254740993'));
  await page.keyboard.press("Control+Enter");
  await page.getByText("You said: héllo").waitFor();
  assert.match(sent(server).text, /"count":9007199254740993/);
  await page.keyboard.press("Control+j");
  assert.equal(await page.locator("#tool-every\\/count").inputValue(), "9007199254740993");
}));

test("what is missing or wrong is said before it is sent, and may be sent", () => on("view=tools", async ({ page, server }) => {
  await tool("every")(page);
  await member(page, "text").getByRole("button", { name: "absent" }).click();
  await member(page, "text").getByText("is required").first().waitFor();
  await page.locator("#tool-every\\/count").fill("abc");
  await page.getByText("must be a number").waitFor();
  await page.locator("#tool-every\\/count").fill("9");
  await page.getByText("must be at most 5").waitFor();
  await page.getByRole("button", { name: /^Call/ }).click();
  await page.getByRole("heading", { name: "Result" }).waitFor();
  assert.deepEqual(sent(server).body.params.arguments, { count: 9 });
}));

test("text that is not JSON stays in the box and is not sent", () => on("view=tools", async ({ page }) => {
  await tool("echo")(page);
  await page.keyboard.press("Control+j");
  await page.getByLabel("Arguments as JSON").fill('{ "text": ');
  await page.getByText(/not JSON/).waitFor();
  assert.ok(await page.getByRole("button", { name: /^Call/ }).isDisabled());
  assert.equal(await page.getByLabel("Arguments as JSON").inputValue(), '{ "text": ');
}));

test("a result shows text, picture, sound, links and structured content", () => on("view=tools", async ({ page }) => {
  await tool("echo")(page);
  await member(page, "text").getByRole("textbox").fill("hi");
  await page.keyboard.press("Control+Enter");
  await page.getByText("You said: hi").waitFor();
  assert.ok(await page.locator(".blocks img").evaluate((image) => image.decode().then(() => image.naturalWidth > 0)));
  assert.equal(await page.locator(".blocks audio").count(), 1);
  await page.getByText("demo://notes").waitFor();
  assert.match(await page.getByRole("tree", { name: "Structured content" }).innerText(), /said: "hi"/);
}));

test("progress shows, and a call can be cancelled", () => on("view=tools", async ({ page }) => {
  await tool("long")(page);
  await page.keyboard.press("Control+Enter");
  await page.getByText("step 2").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".outcome .status-word[data-status=cancelled]").waitFor();
}));

test("a question of the server is answered under the call that waits", () => on("view=tools", async ({ page, server }) => {
  await tool("ask")(page);
  await page.keyboard.press("Control+Enter");
  await page.getByText("Which colour?").waitFor();
  await page.keyboard.press("a");
  await page.locator("[data-question] select").selectOption({ label: "Blue" });
  await page.locator("[data-question]").getByRole("button", { name: "Accept" }).click();
  await page.getByText('You said {"action":"accept","content":{"colour":"b"}}').waitFor();
  assert.deepEqual(server.posts.find(({ path }) => path === "/api/answer").body, { question: 1, result: { action: "accept", content: { colour: "b" } } });
}));

test("a destructive tool is confirmed, and a failure is seen", () => on("view=tools", async ({ page, server }) => {
  await tool("delete")(page);
  await page.getByRole("button", { name: /^Call/ }).click();
  await page.getByText("may destroy").waitFor();
  assert.equal(sent(server), undefined);
  await page.getByRole("button", { name: /^Send anyway/ }).click();
  await page.getByRole("heading", { name: "Result" }).waitFor();
  await tool("fails")(page);
  await page.getByRole("button", { name: /^Call/ }).click();
  await page.getByRole("heading", { name: "Error of the tool" }).waitFor();
}));

test("arguments are remembered for each tool", () => on("view=tools", async ({ page }) => {
  await tool("echo")(page);
  await member(page, "text").getByRole("textbox").fill("kept");
  await tool("long")(page);
  await tool("echo")(page);
  assert.equal(await member(page, "text").getByRole("textbox").inputValue(), "kept");
}));

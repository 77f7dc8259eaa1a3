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

const posts = (server, path) => server.posts.filter((post) => post.path === path).map(({ body }) => body);

test("a resource is read and subscribed to", () => on("view=resources", async ({ page, server }) => {
  await page.getByText("demo://notes").click();
  await page.getByRole("button", { name: /^Read/ }).click();
  await page.getByText('"degrees": 21').waitFor();
  await page.getByRole("button", { name: "Subscribe" }).click();
  await page.getByRole("button", { name: "Unsubscribe" }).waitFor();
  assert.deepEqual(posts(server, "/api/subscribe"), [{ target: 1, uri: "demo://notes", on: true }]);
  await page.getByText("demo://picture").click();
  await page.getByRole("button", { name: /^Read/ }).click();
  assert.ok(await page.locator(".blocks img").evaluate((image) => image.decode().then(() => image.naturalWidth > 0)));
}));

test("a template is filled in with the server's completions", () => on("view=resources", async ({ page, server }) => {
  await page.getByText("demo://city/{city}{?units}").click();
  const city = page.locator(".member").first();
  await city.getByRole("button", { name: "value" }).click();
  await city.locator("input").fill("par");
  await page.waitForFunction(() => document.querySelectorAll("datalist option").length === 2);
  await city.locator("input").fill("Aix les Bains");
  await page.getByText("demo://city/Aix%20les%20Bains").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: "Contents" }).waitFor();
  assert.deepEqual(posts(server, "/api/request").at(-1), { target: 1, method: "resources/read", params: { uri: "demo://city/Aix%20les%20Bains" } });
}));

test("a prompt shows its messages", () => on("view=prompts", async ({ page, server }) => {
  await page.getByText("greet", { exact: true }).click();
  await page.locator(".member").first().locator("input").fill("Paris");
  await page.getByRole("button", { name: /^Get/ }).click();
  await page.getByText("Bonjour!").waitFor();
  assert.deepEqual(posts(server, "/api/request").at(-1).params, { name: "greet", arguments: { city: "Paris" } });
}));

test("a finding leads to its message", () => on("view=findings", async ({ page }) => {
  await page.locator(".row").first().click();
  await page.getByText("Rename one of the two tools.").waitFor();
  await page.getByRole("button", { name: /^Show row/ }).click();
  await page.locator(".row-detail .finding").waitFor();
}));

test("the server is connected again at another revision, and its level is set", () => on("view=server", async ({ page, server }) => {
  await page.getByLabel("Revision").selectOption("2025-06-18");
  await page.getByRole("button", { name: "Reconnect" }).click();
  await page.getByRole("cell", { name: "2", exact: true }).waitFor();
  assert.deepEqual(posts(server, "/api/connect"), [{ target: 1, revision: "2025-06-18" }]);
  await page.getByLabel("Log level").selectOption("debug");
  await page.waitForFunction(() => document.getElementById("level").value === "debug");
  await page.getByLabel("Raw message").fill("{ oops");
  await page.keyboard.press("Control+Enter");
  await page.locator(".row-detail").getByText("{ oops").last().waitFor();
  await page.keyboard.press("6");
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("button", { name: "Connect", exact: true }).waitFor();
}));

test("the log has stderr and log messages alone", () => on("view=log", async ({ page }) => {
  await page.getByText("cache is cold").first().waitFor();
  const texts = await page.$$eval(".row:not([hidden])", (rows) => rows.map((row) => row.textContent));
  assert.ok(texts.length > 5 && texts.every((text) => /stderr|notifications\/message/.test(text)), texts.join("\n"));
}));

test("sampling, roots and addresses are answered", () => on("view=questions", async ({ page, server }) => {
  const ask = (question) => { server.questions = [{ target: 1, at: 1, ...question }]; server.tellState(); };
  ask({ question: 5, kind: "sampling", params: { systemPrompt: "Be short.", messages: [{ role: "user", content: { type: "text", text: "Capital of France?" } }], maxTokens: 10 } });
  await page.getByText("Capital of France?").waitFor();
  await page.getByLabel("Your answer as the model").fill("Paris");
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("No question is open.").waitFor();
  ask({ question: 6, kind: "roots" });
  await page.getByLabel("Roots as JSON").fill('[{"uri":"file:///srv"}]');
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("No question is open.").waitFor();
  ask({ question: 7, kind: "url", message: "Sign in", url: "https://example.com/?a=1" });
  assert.equal(await page.locator("[data-question] a").count(), 0, "an address is no link");
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByText("No question is open.").waitFor();
  const [sampling, roots, url] = posts(server, "/api/answer");
  assert.deepEqual([sampling.result.content, roots.result, url.result], [{ type: "text", text: "Paris" }, { roots: [{ uri: "file:///srv" }] }, { action: "decline" }]);
}));

test("the trace is saved", () => on("view=server", async ({ page }) => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Control+s")]);
  assert.equal(download.suggestedFilename(), "session-1.jsonl");
}));

test("a server is picked from those of a client", () => on("view=server", async ({ page, server }) => {
  const servers = page.getByRole("region", { name: "Servers" });
  assert.equal(await servers.locator("tbody tr").count(), 3);
  await servers.getByRole("button", { name: "Connect weather" }).click();
  await servers.locator("tr", { hasText: "weather" }).getByText("open").waitFor();
  assert.deepEqual(posts(server, "/api/connect"), [{ target: 2, revision: null }]);
  assert.equal(await servers.getByRole("button", { name: "weather" }).getAttribute("aria-current"), "true");
  assert.equal(await page.evaluate(() => location.hash.includes("target=2")), true);
}, { state: "idle", offered: ["weather (node weather.js)", "files (npx -y files)"] }));

test("a connection that is being made can be given up", () => on("view=server", async ({ page, server }) => {
  await page.getByRole("button", { name: "Stop connecting" }).click();
  await page.getByRole("button", { name: "Disconnect" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Disconnect" }).isDisabled(), true);
  assert.deepEqual(posts(server, "/api/disconnect"), [{ target: 1 }]);
}, { state: "connecting" }));

test("what another client says can only be read", () => on("view=server", async ({ page }) => {
  await page.getByText("Nothing can be sent from here").waitFor();
  assert.equal(await page.getByRole("button", { name: /connect/i }).count(), 0);
}, { state: "watched", kind: "watched" }));

test("the sides of a gateway can only be read, and each row names its side", () => on("view=server", async ({ page }) => {
  await page.getByText("This is what a gateway, its clients and its upstreams say").waitFor();
  assert.equal(await page.getByRole("button", { name: /connect/i }).count(), 0);
  await page.keyboard.press("1");
  await page.waitForFunction(() => /echo · /.test(document.querySelector(".list")?.textContent ?? ""));
}, { state: "watched", kind: "gateway" }));

test("the way to the server is walked, and the step that fails says what fixes it", () => on("view=server", async ({ page, server }) => {
  await page.getByRole("button", { name: "Examine the connection" }).click();
  await page.getByText("Fails at tcp.").waitFor();
  const rows = await page.$$eval(".steps tbody tr", (all) => all.map((row) => row.textContent.replace(/\s+/g, " ").trim()));
  assert.equal(rows.length, 3);
  assert.match(rows[1], /^tcp ?failed ?1 ?\[::1\]:3000: connection refused.*Try: start the server, check host and port$/);
  assert.match(rows[2], /^tls ?skipped ?not reached/);
  assert.deepEqual(posts(server, "/api/doctor"), [{ target: 1 }]);
}));

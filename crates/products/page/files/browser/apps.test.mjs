// Apps of servers (MCP Apps): the one of the reference server does what its user allows, and hostile ones get nowhere.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { HOSTILE } from "../test/fake-data.mjs";
import { call, choose, fill, filter, looked, on, proof, view } from "./program.mjs";

const at = (revision) => ["--revision", revision, "--", proof, "serve", "--stdio"];
const SERVER = fileURLToPath(new URL("app-server.mjs", import.meta.url));
const tcp = { server: createServer(), heard: [] };
const udp = { socket: createSocket("udp4"), heard: 0 };

before(async () => {
  tcp.server.on("connection", (socket) => {
    const one = { said: "" };
    tcp.heard.push(one);
    socket.on("data", (data) => { one.said += data; });
    socket.on("error", () => {});
  });
  await new Promise((done) => tcp.server.listen(0, "127.0.0.1", done));
  udp.socket.on("message", () => { udp.heard += 1; });
  await new Promise((done) => udp.socket.bind(0, "127.0.0.1", done));
});
after(() => {
  tcp.server.close();
  udp.socket.close();
});

/** What was said on the connections; browsers may open one before they ask whether they may use it. */
const requests = () => tcp.heard.map(({ said }) => said).filter((said) => said !== "");

/** Opens the app of a tool: the call, then its app. */
async function opened(page, tool, given = {}) {
  await view(page, "2");
  await choose(page, tool);
  await call(page, given);
  await page.locator(".outcome .status-word[data-status=ok]").waitFor();
  await page.locator("[data-app]").click();
  await page.locator("iframe.app-view").waitFor();
  return page.frameLocator("iframe.app-view");
}

for (const revision of ["2025-11-25", "2026-07-28"]) {
  test(`${revision}: an app shows the result of its tool, calls it after a question, and leaves`, () => on(at(revision), async (page) => {
    const app = await opened(page, "get_weather", { location: "Oslo" });
    await app.getByRole("heading", { name: "Oslo" }).waitFor();
    await app.getByText("°C").waitFor();
    await app.getByLabel("Another place").fill("Lima");
    await app.getByRole("button", { name: "Show" }).click();
    await page.getByText("The app asks to call the tool get_weather").waitFor();
    assert.equal(await app.getByRole("heading", { name: "Lima" }).count(), 0, "nothing is called before the user says so");
    await looked(page, `app-${revision}`, ".call");
    await page.getByRole("button", { name: "Refuse", exact: true }).click();
    await app.getByText("The user refused the call").waitFor();
    await app.getByRole("button", { name: "Show" }).click();
    await page.getByRole("button", { name: "Allow while the app is open" }).click();
    await app.getByRole("heading", { name: "Lima" }).waitFor();
    await app.getByLabel("Another place").fill("Quito");
    await app.getByRole("button", { name: "Show" }).click();
    await app.getByRole("heading", { name: "Quito" }).waitFor();
    await app.getByRole("button", { name: "Tell the model" }).click();
    await page.getByText("it is shown here and sent nowhere").waitFor();
    await page.getByText("The weather of Quito is on the screen.").waitFor();
    const themes = [];
    for (const _ of [1, 2]) {
      themes.push(await app.locator(":root").getAttribute("data-theme"));
      await page.getByRole("button", { name: "Light or dark" }).click();
      await page.waitForTimeout(200);
    }
    assert.deepEqual([...themes].sort(), ["dark", "light"], "the app follows the page");
    await page.locator("[data-app]").click();
    await page.locator("iframe.app-view").waitFor({ state: "detached" });
    await view(page, "1");
    await page.locator('.row[data-kind="app"]').first().waitFor();
    await page.locator('.row[data-kind="app"]:has-text("tools/call")').first().click();
    await page.locator(".row-detail").getByText("app → page").waitFor();
    await looked(page, "app-traffic", ".traffic");
    await filter(page, "kind:app method:ui/resource-teardown status:ok", 1);
    await filter(page, "kind:app method:tools/call name:get_weather", 3);
    await filter(page, "kind:app method:tools/call status:error", 1);
    const parents = await page.$$eval(".row.child:not([hidden])", (rows) => rows.length);
    assert.equal(parents, 0, "the rows of the app itself have no parent");
    await filter(page, "kind:call tool:get_weather", 3);
    assert.equal(await page.locator(".row.child:not([hidden])").count(), 2, "the calls of the app belong to its requests");
    await view(page, "5");
    await page.waitForTimeout(1500);
    assert.equal(await page.locator(".row:not([hidden])").count(), 0, "no rule finds anything");
  }));
}

test("without apps, none is declared and none is shown", () => on(["--no-apps", ...at("2025-11-25")], async (page) => {
  await view(page, "2");
  await choose(page, "get_weather");
  await call(page, { location: "Oslo" });
  await page.locator(".outcome .status-word[data-status=ok]").waitFor();
  assert.equal(await page.locator("[data-app]").count(), 0);
  await filter(page, "body:io.modelcontextprotocol/ui", 0);
}));

const hostile = (act, judge = () => {}) => on(["--", process.execPath, SERVER, String(tcp.server.address().port), String(udp.socket.address().port)], async (page) => {
  tcp.heard.length = 0;
  udp.heard = 0;
  const address = page.url();
  await act(page);
  assert.equal(await page.evaluate(() => window.hit), undefined, "no script of the app ran in the page");
  assert.equal(page.url().split("#")[0], address.split("#")[0], "the page stays where it is");
  assert.equal(page.context().pages().length, 1, "no other window is open");
}, {
  judge: (wrong) => {
    // What the policy of the app stops is the purpose; of the page, only the navigation of its frame may be stopped.
    // Errors without a text are events that scripts of the app threw.
    const worse = wrong.filter((text) => /^(dialog|error):\s*\S/.test(text));
    assert.deepEqual(worse, []);
    judge(wrong);
  },
});

test("an app that reaches for the page, the network and other windows gets nowhere", () => hostile(async (page) => {
  const app = await opened(page, "grab");
  await app.locator("#state", { hasText: "done" }).waitFor({ timeout: 60_000 });
  assert.equal(await app.locator("#state").textContent(), "done []");
  assert.deepEqual(requests(), [], "no request arrived");
  assert.equal(await page.locator("[data-app-ask]").count(), 0, "what is not for apps is not even asked for");
  await page.evaluate(() => postMessage({ jsonrpc: "2.0", method: "notifications/message", params: { data: "from another window" } }, "*"));
  const height = await page.locator("iframe.app-view").evaluate((frame) => frame.getBoundingClientRect().height);
  assert.ok(height <= 642, `${height}`);
  const stopped = await page.getByText(/The policy stopped \d+ attempts/).textContent();
  assert.ok(Number(/stopped (\d+)/.exec(stopped)[1]) >= 20, stopped);
  await looked(page, "app-hostile", ".app");
  await filter(page, "kind:app method:notifications/message", 0);
  for (const end of ["fetch", "xhr", "ws", "img"]) await filter(page, `kind:app method:blocked status:error name:*/${end}`, 1);
}));

for (const way of ["leave", "download", "refresh"]) {
  test(`an app that leaves its frame (${way}) sends nothing`, () => hostile(async (page) => {
    await opened(page, way);
    await page.getByText("The app tried to leave its frame").waitFor();
    await page.waitForTimeout(1000);
    assert.deepEqual(requests(), []);
  }, (wrong) => assert.ok(wrong.some((text) => text.startsWith("policy: frame-src")), wrong.join("\n"))));
}

test("an app that floods its host is closed, and the page goes on", () => hostile(async (page) => {
  await opened(page, "flood");
  await page.getByText("The app is closed: it sent more messages than it may send.").waitFor({ timeout: 30_000 });
  assert.equal(await page.locator("iframe.app-view").count(), 0);
  await view(page, "1");
  await page.getByRole("combobox", { name: "Filter" }).waitFor();
}));

test("fifty hostile texts of an app stay texts", () => hostile(async (page) => {
  // No server takes half of a surrogate pair: the app says those by itself.
  const app = await opened(page, "saying", { texts: HOSTILE.filter((text) => text.isWellFormed()) });
  await app.locator("#state", { hasText: "done" }).waitFor({ timeout: 60_000 });
  const found = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth - innerWidth,
    markup: document.querySelectorAll(".app object, .app embed, .app form, .app script, .app style, .app img, .app a").length, frames: document.querySelectorAll("iframe").length,
  }));
  assert.deepEqual(found, { wide: 0, markup: 0, frames: 1 });
  await filter(page, "kind:app method:ui/message", HOSTILE.length);
}));

test("domains that an app asks for are permitted by the user alone", () => hostile(async (page) => {
  const app = await opened(page, "asking");
  await app.getByText("done []").waitFor();
  assert.deepEqual(requests(), []);
  await page.getByRole("button", { name: "Allow these domains and reload" }).click();
  await page.getByText(/Permitted: http:\/\/127/).waitFor();
  const deadline = Date.now() + 10_000;
  while (requests().length === 0 && Date.now() < deadline) await page.waitForTimeout(50);
  assert.match(requests()[0] ?? "", /^GET \/declared/);
}));

test("what no policy forbids is what the documentation says", () => hostile(async (page) => {
  const app = await opened(page, "leak");
  await app.locator("#state", { hasText: "done" }).waitFor();
  console.log(`preconnect: ${tcp.heard.length} connections, WebRTC: ${udp.heard} packets`);
  assert.deepEqual(requests(), [], "nothing is said on a connection that was opened ahead");
}));

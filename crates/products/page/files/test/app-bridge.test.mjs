// The host's side of an app: what it answers, what it refuses, what it does not take.
import test from "node:test";
import assert from "node:assert/strict";
import { Allowance, Bridge, Refusal, appOf, isVisibleTo, textOf } from "../parts/app-bridge.js";

const tools = [
  { name: "both" }, { name: "for-models", _meta: { ui: { visibility: ["model"] } } }, { name: "for-apps", _meta: { ui: { visibility: ["app"] } } },
];

/** A bridge whose host notes everything. */
function bridged({ may = true, now = () => 0, request = async () => ({ content: [] }) } = {}) {
  const seen = { posted: [], noted: [], asked: [], said: [], heights: [], dropped: [], expelled: [] };
  const bridge = new Bridge({
    post: (message) => seen.posted.push(message),
    note: async (from, text) => seen.noted.push({ from, message: JSON.parse(text) }),
    context: () => ({ theme: "dark" }), domains: {}, tools: () => tools,
    mayCall: async () => may,
    request: async (method, params, row) => { seen.asked.push({ method, params, row }); return request(method, params); },
    openLink: async () => may,
    said: (what, said) => seen.said.push({ what, said }), resize: (height) => seen.heights.push(height),
    dropped: (why) => seen.dropped.push(why), expelled: (why) => seen.expelled.push(why), version: "1",
  }, now);
  const ask = async (method, params, id = 7) => {
    bridge.receive({ jsonrpc: "2.0", id, method, params });
    await new Promise((done) => setTimeout(done, 1));
    return seen.posted.find((message) => message.id === id && !message.method);
  };
  return { bridge, seen, ask };
}

/** One that is greeted. */
async function greeted(options) {
  const one = bridged(options);
  await one.ask("ui/initialize", { protocolVersion: "2026-01-26" }, 1);
  one.bridge.receive({ jsonrpc: "2.0", method: "ui/notifications/initialized", params: {} });
  return one;
}

test("nothing is sent before the app is ready, then arguments and result in order", async () => {
  const { bridge, seen, ask } = bridged();
  bridge.notify("ui/notifications/tool-input", { arguments: { a: 1 } });
  bridge.notify("ui/notifications/tool-result", { content: [] });
  bridge.changed({ theme: "light" });
  assert.deepEqual(seen.posted, []);
  assert.equal((await ask("tools/call", { name: "both" })).error.code, -32600);
  const { result } = await ask("ui/initialize", {}, 1);
  assert.equal(result.protocolVersion, "2026-01-26");
  assert.deepEqual(result.hostContext, { theme: "dark" });
  assert.equal(seen.posted.length, 2);
  bridge.receive({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  assert.deepEqual(seen.posted.slice(2).map(({ method }) => method), ["ui/notifications/tool-input", "ui/notifications/tool-result"]);
  bridge.changed({ theme: "light" });
  assert.equal(seen.posted.at(-1).method, "ui/notifications/host-context-changed");
});

test("a tool is called if it is for apps and the user agrees", async () => {
  const { seen, ask } = await greeted();
  assert.deepEqual((await ask("tools/call", { name: "both", arguments: { a: 1 } }, 2)).result, { content: [] });
  assert.deepEqual((await ask("tools/call", { name: "for-apps" }, 3)).result, { content: [] });
  for (const [id, params] of [[4, { name: "for-models" }], [5, { name: "unknown" }], [6, { name: { toString: 1 } }], [7, { name: "both", arguments: [] }], [8, undefined], [9, []]]) {
    assert.equal((await ask("tools/call", params, id)).error?.code, -32602, JSON.stringify(params));
  }
  assert.deepEqual(seen.asked.map(({ params }) => params.name), ["both", "for-apps"]);
  assert.ok(seen.asked.every(({ row }) => row > 0), "each call knows the row of the app's request");
  const refused = await greeted({ may: false });
  assert.equal((await refused.ask("tools/call", { name: "both" })).error.code, -32000);
  assert.deepEqual(refused.seen.asked, []);
});

test("an error of the server is the app's answer, and an unknown method is refused", async () => {
  const { ask, seen } = await greeted({ request: async () => { throw new Refusal(-32002, "not found"); } });
  assert.deepEqual((await ask("resources/read", { uri: "ui://x" }, 2)).error, { code: -32002, message: "not found" });
  for (const method of ["sampling/createMessage", "tools/list", "initialize", "ui/", "__proto__"]) assert.equal((await ask(method, {}, method)).error.code, -32601, method);
  assert.equal(seen.asked.length, 1);
});

test("links are of the web and the user's decision", async () => {
  const { ask } = await greeted();
  assert.deepEqual((await ask("ui/open-link", { url: "https://example.org/" }, 2)).result, {});
  for (const [id, url] of [[3, "javascript:alert(1)"], [4, "data:text/html,x"], [5, "file:///etc/passwd"], [6, "/relative"], [7, 5], [8, `https://a.example/${"x".repeat(3000)}`]]) {
    assert.equal((await ask("ui/open-link", { url }, id)).error.message, "Invalid URL", String(url).slice(0, 40));
  }
  const refused = await greeted({ may: false });
  assert.ok((await refused.ask("ui/open-link", { url: "https://example.org/" })).error);
});

test("messages and context are shown, sizes are numbers", async () => {
  const { bridge, ask, seen } = await greeted();
  assert.deepEqual((await ask("ui/message", { role: "user", content: [{ type: "text", text: "hi" }] }, 2)).result, {});
  assert.deepEqual((await ask("ui/request-display-mode", { mode: "fullscreen" }, 3)).result, { mode: "inline" });
  for (const height of [100, "200", null, Number.NaN]) bridge.receive({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height } });
  assert.deepEqual(seen.heights, [100]);
  assert.deepEqual(seen.said.map(({ what }) => what), ["message"]);
});

test("other values than messages are not read and not answered", async () => {
  const { bridge, seen } = await greeted();
  const before = seen.noted.length;
  const cycle = {};
  cycle.self = cycle;
  let deep = [];
  for (let at = 0; at < 100_000; at += 1) deep = [deep];
  const odd = [undefined, null, 5, "text", [], {}, { jsonrpc: "1.0", method: "ping", id: 1 }, cycle, deep, 5n, () => 1, { jsonrpc: "2.0", method: "x".repeat(2 << 20) }, "ü".repeat(700_000)];
  for (const data of odd) bridge.receive(data);
  assert.equal(seen.dropped.length, odd.length);
  assert.equal(seen.noted.length, before);
  assert.equal(textOf({ toJSON: () => { throw new Error("mine"); } }), null);
});

test("a flood is not taken, and in the end the app is closed", async () => {
  let at = 0;
  const { bridge, seen } = await greeted({ now: () => at });
  for (let n = 0; n < 500; n += 1) bridge.receive({ jsonrpc: "2.0", method: "notifications/message", params: { data: n } });
  assert.ok(seen.said.length <= 200 && seen.dropped.length >= 300, `${seen.said.length} taken`);
  assert.deepEqual(seen.expelled, []);
  at = 10_000;
  bridge.receive({ jsonrpc: "2.0", method: "notifications/message", params: { data: "later" } });
  assert.equal(seen.said.at(-1).said.content, "later");
  for (let n = 0; n < 2000; n += 1) bridge.receive({ jsonrpc: "2.0", method: "notifications/message", params: {} });
  assert.equal(seen.expelled.length, 1);
  const posted = seen.posted.length;
  bridge.notify("ui/notifications/tool-result", {});
  assert.equal(seen.posted.length, posted, "nothing is sent to a closed app");
});

test("requests that stay open have a limit", async () => {
  const { bridge, seen } = await greeted({ request: () => new Promise(() => {}) });
  for (let id = 100; id < 120; id += 1) bridge.receive({ jsonrpc: "2.0", id, method: "resources/read", params: { uri: "x:" } });
  await new Promise((done) => setTimeout(done, 1));
  assert.equal(seen.posted.filter(({ error }) => error?.code === -32000).length, 4);
});

test("goodbye waits for the answer, but not for long", async () => {
  const { bridge, seen } = await greeted();
  const leaving = bridge.goodbye("closed");
  assert.equal(seen.posted.at(-1).method, "ui/resource-teardown");
  bridge.receive({ jsonrpc: "2.0", id: 0, result: {} });
  await leaving;
  const begun = performance.now();
  await (await greeted()).bridge.goodbye("closed");
  assert.ok(performance.now() - begun < 2000);
});

test("an allowance refills with time and never beyond its bound", () => {
  let at = 0;
  const allowance = new Allowance(10, 20, () => at);
  assert.deepEqual([allowance.take(20), allowance.take(1)], [true, false]);
  at = 500;
  assert.deepEqual([allowance.take(5), allowance.take(1)], [true, false]);
  at = 1e9;
  assert.deepEqual([allowance.take(20), allowance.take(1)], [true, false]);
});

test("an app is named by a ui:// address, by its new or its old name", () => {
  assert.equal(appOf({ _meta: { ui: { resourceUri: "ui://a/b" } } }), "ui://a/b");
  assert.equal(appOf({ _meta: { "ui/resourceUri": "ui://old" } }), "ui://old");
  for (const tool of [null, {}, { _meta: { ui: { resourceUri: "https://a.example" } } }, { _meta: { ui: { resourceUri: 5 } } }, { _meta: null }]) assert.equal(appOf(tool), "");
  assert.ok(isVisibleTo({}, "app") && isVisibleTo({}, "model") && !isVisibleTo({ _meta: { ui: { visibility: "app" } } }, "app"));
});

// What people asked for in the issues of MCP Inspector (the numbers are theirs), each done on this page.
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, choose, filter, folder, freePort, member, MCP, on, started, view } from "./program.mjs";

const script = fileURLToPath(new URL("server.mjs", import.meta.url));
const server = ["--", process.execPath, script];
const outcome = (page) => page.locator(".outcome");

test("391, 982, 995: authorization fails – the page says at which step, what came, and what to do", async () => {
  const url = await started(["serve", "--http", "127.0.0.1:0", "--auth", "dev", "--fault", "metadata-404"], MCP);
  await on([url], async (page) => {
    await page.keyboard.press("O");
    const step = (name) => page.locator(`[data-step="${name}"]`);
    await page.locator('[data-step="challenge"][data-outcome="ok"]').waitFor();
    await page.getByRole("button", { name: "All further steps" }).click();
    await page.locator('[data-step="resource-metadata"][data-outcome="failed"]').waitFor();
    assert.match(await step("resource-metadata").innerText(), /no metadata where WWW-Authenticate says.*Try: publish it there/s);
    await step("resource-metadata").locator("summary").click();
    await step("resource-metadata").getByText(/404/).first().waitFor();
  }, { state: ["failed"] });
});

test("1853, 1885, 1928: an argument of a nullable enumeration is a value, null or absent", () => on(server, async (page) => {
  await page.keyboard.press("2");
  await choose(page, "nullable");
  const sends = async (wanted) => {
    await page.keyboard.press("Control+Enter");
    await outcome(page).getByText(`came: ${wanted}`, { exact: true }).waitFor();
  };
  await member(page, "colour").getByRole("button", { name: "value" }).click();
  await member(page, "colour").locator("select").selectOption({ label: "green" });
  await member(page, "size").getByRole("button", { name: "null" }).click();
  await sends('{"colour":"green","size":null}');
  await member(page, "colour").getByRole("button", { name: "null" }).click();
  await member(page, "size").getByRole("button", { name: "absent" }).click();
  await sends('{"colour":null}');
  await member(page, "colour").getByRole("button", { name: "absent" }).click();
  await sends("{}");
}));

test("331, 690, 1856: text with quotes and lines, and a number of 19 digits, arrive as they were typed", () => on(server, async (page) => {
  await page.keyboard.press("2");
  await choose(page, "mirror");
  const typed = 'C:\\new "folder"\nsecond line – é 😀 \\u0041';
  await member(page, "text").getByRole("button", { name: "value" }).click();
  await member(page, "text").getByRole("button", { name: "More lines" }).click();
  await member(page, "text").locator("textarea").fill(typed);
  await member(page, "number").getByRole("button", { name: "value" }).click();
  await member(page, "number").getByRole("textbox").fill("9007199254740993123");
  await page.keyboard.press("Control+Enter");
  await outcome(page).getByText(/9007199254740993123/).first().waitFor();
  const shown = await outcome(page).locator(".block").first().innerText();
  assert.equal(JSON.parse(shown.replace(/^came: /, "")).text, typed);
}));

test("880, 2028, 373: progress keeps a call alive; without any, the page says so, and what gave up", () => on(["--timeout", "4", ...server], async (page) => {
  await page.keyboard.press("2");
  await choose(page, "busy");
  await call(page, { ms: 8000 });
  await page.locator(".progress").getByText(/of 8000/).waitFor();
  await outcome(page).getByText("finished").waitFor();
  await choose(page, "silent");
  await call(page, { ms: 30_000 });
  await outcome(page).getByText(/No progress so far/).waitFor();
  await outcome(page).getByText(/Given up: .*--timeout S/s).waitFor();
}));

test("962, 1936, 1914: a server that cannot be reached is examined, and the step that fails is named", async () => {
  const port = await freePort();
  await on([`http://localhost:${port}/mcp`], async (page) => {
    await page.getByRole("alert").getByText(/refused|nothing listens/i).first().waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("examine");
    await page.keyboard.press("Enter");
    await page.getByText("Fails at tcp.").waitFor();
    await page.getByText(/Try: start the server/).waitFor();
    await page.getByRole("button", { name: /^Examine the connection/ }).waitFor();
    await page.keyboard.press("1");
    await page.keyboard.press("d");
    await page.getByText("Fails at tcp.").waitFor();
  }, { state: ["failed"] });
});

test("1951, 1944: in a container, 0.0.0.0 is said to be no place to connect to, and the page works through a forwarded port", async () => {
  const serving = await started(["serve", "--http", "127.0.0.1:0"], MCP);
  await on([serving.replace("127.0.0.1", "0.0.0.0")], async (page) => {
    await page.keyboard.press("d");
    await page.getByText("Fails at http.").waitFor();
    await page.getByText(`Try: connect to ${serving}`).waitFor();
  }, { state: ["failed"] });
  await on([serving], async (page, { url }) => {
    const inner = Number(new URL(url).port);
    const forwarded = createServer((socket) => {
      const through = connect(inner, "127.0.0.1");
      socket.pipe(through).pipe(socket);
      for (const end of [socket, through]) end.on("error", () => { socket.destroy(); through.destroy(); });
    });
    await new Promise((done) => forwarded.listen(0, "127.0.0.1", done));
    const outer = await page.context().newPage();
    try {
      await outer.goto(url.replace(`127.0.0.1:${inner}`, `localhost:${forwarded.address().port}`));
      await outer.keyboard.press("2");
      await choose(outer, "sum");
      await call(outer, { a: 2, b: 3 });
      await outer.getByRole("tree", { name: "Structured content" }).getByText("5").waitFor();
    } finally {
      await outer.close();
      forwarded.close();
    }
  });
});

test("351: a server that a script started ends with the connection", () => on(["--", "sh", "-c", `"${process.execPath}" "${script}"; true`], async (page) => {
  await page.keyboard.press("2");
  await choose(page, "pid");
  await page.keyboard.press("Control+Enter");
  const pid = Number(await outcome(page).locator(".block").first().innerText());
  assert.ok(isAlive(pid), `${pid} runs`);
  await view(page, "6");
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.waitForFunction(() => document.querySelector(".dot")?.dataset.state === "closed");
  const end = Date.now() + 5000;
  while (isAlive(pid) && Date.now() < end) await new Promise((done) => setTimeout(done, 50));
  assert.ok(!isAlive(pid), `${pid} still runs`);
}));

function isAlive(pid) {
  try {
    // A process that ended and is not yet reaped counts as ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("1886, 1916: a call is run again after another connect; the session is saved, read without its server, and holds no secret", async () => {
  const file = join(folder, "session.jsonl");
  const secret = "sk-live-4f9a8b7c6d5e4f3a2b1c";
  await on(["--env", `API_TOKEN=${secret}`, ...server], async (page) => {
    await page.keyboard.press("2");
    await choose(page, "mirror");
    await call(page, { text: `token ${secret}` });
    await outcome(page).locator(".block").first().waitFor();
    await view(page, "6");
    await page.getByRole("button", { name: "Reconnect" }).click();
    await page.waitForFunction(() => document.querySelector(".dot")?.dataset.state === "open");
    await filter(page, "tool:mirror", 1);
    await page.locator(".row").first().click();
    await page.locator(".row-detail .tree").first().waitFor();
    await page.locator(".list").focus();
    await page.keyboard.press("r");
    await filter(page, "tool:mirror status:ok", 2);
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Control+s")]);
    await download.saveAs(file);
    assert.ok(!(await page.content()).includes(secret));
  });
  assert.ok(!readFileSync(file, "utf8").includes(secret));
  await on(["--trace", file], async (page) => {
    await filter(page, "tool:mirror", 1);
    await page.locator(".row").first().click();
    await page.locator(".row-detail").getByText("mirror").first().waitFor();
  });
});

test("1991, 1005, 1015: structured content is shown, and content that breaks its schema has a finding with the fix", () => on(server, async (page) => {
  await page.keyboard.press("2");
  await choose(page, "weather");
  await page.keyboard.press("Control+Enter");
  assert.match(await page.getByRole("tree", { name: "Structured content" }).innerText(), /degrees: 21/);
  await choose(page, "wrong");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("tree", { name: "Structured content" }).getByText(/warm/).waitFor();
  await filter(page, "tool:wrong finding:*", 1);
  await page.locator(".row").first().click();
  const finding = page.locator(".finding").filter({ hasText: /structured/i }).first();
  await finding.waitFor();
  assert.match(await finding.innerText(), /Fix/);
}));

test("1919: a template of RFC 6570 is filled in by its rules", () => on(server, async (page) => {
  await page.keyboard.press("3");
  await choose(page, "files://{+folder}/{name}{?version,lang}");
  for (const [name, value] of [["folder", "a/b"], ["name", "c d"], ["lang", "de"]]) {
    const box = member(page, name);
    if (!(await box.locator("input").count())) await box.getByRole("button", { name: "value" }).click();
    await box.locator("input").first().fill(value);
  }
  const version = member(page, "version").getByRole("button", { name: "absent" });
  if (await version.count()) await version.click();
  await page.getByRole("button", { name: /^Read/ }).click();
  await outcome(page).getByText("read files://a/b/c%20d?lang=de").waitFor();
}));

test("huge lists: of 5,000 tools one is found and called at once", () => on([...server, "many"], async (page) => {
  await page.keyboard.press("2");
  await page.getByText("tool-1", { exact: true }).first().waitFor();
  const begun = Date.now();
  await choose(page, "tool-4321");
  await page.keyboard.press("Control+Enter");
  await outcome(page).getByText("tool-4321").waitFor();
  assert.ok(Date.now() - begun < 10_000, `${Date.now() - begun} ms`);
}));

// The page on a running gateway: both sides of it as they happen, and its recordings, also after a new file began and an old one went.
import test from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filter, folder, looked, MCP, on, proof, started, view } from "./program.mjs";

test("clients of a gateway: traffic from before and after, and over the change of files", async () => {
  const traces = join(folder, "traces");
  mkdirSync(traces);
  const config = join(folder, "gateway.yaml");
  writeFileSync(config, `upstreams:\n  demo:\n    command: [${[proof, "serve", "--stdio"].map((word) => JSON.stringify(word)).join(", ")}]\nrecord: { folder: ${JSON.stringify(traces)}, file_bytes: 64KiB, files: 2 }\n`);
  const url = await started(["gateway", "--config", config, "--http", "127.0.0.1:0"], MCP);
  const sum = (a, b) => {
    const run = spawnSync(proof, ["client", "call", "sum", `a=${a}`, `b=${b}`, url], { encoding: "utf8", cwd: folder });
    assert.equal(run.status, 0, run.stderr);
  };
  sum(1, 2);
  const files = () => readdirSync(traces).sort();
  const first = files();
  await on(["--gateway", traces], async (page) => {
    await filter(page, "tool:sum status:ok", 1);
    sum(3, 4);
    await page.waitForFunction(() => /^2 of/.test(document.querySelector(".amount").textContent));
    let calls = 2;
    for (; calls < 60 && files().some((name) => first.includes(name)); calls += 1) sum(calls, 7);
    assert.ok(!files().some((name) => first.includes(name)), `the files of the beginning stay: ${files()}`);
    await page.waitForFunction((wanted) => document.querySelector(".amount").textContent.startsWith(`${wanted} of`), calls);
    await view(page, "6");
    await page.getByRole("region", { name: "Sessions" }).getByText(/it holds many clients/).first().waitFor();
    assert.ok((await page.getByRole("region", { name: "Sessions" }).locator("tbody tr").count()) >= 3);
  }, { state: ["file"] });
});

test("a running gateway: the client's request, what the upstream did for it, and nothing to send", async () => {
  const config = join(folder, "running.yaml");
  const command = [proof, "serve", "--stdio"].map((word) => JSON.stringify(word)).join(", ");
  writeFileSync(config, `upstreams:\n  weather:\n    command: [${command}]\n  files:\n    command: [${command}]\n`);
  const env = { ...process.env, XDG_RUNTIME_DIR: folder };
  const url = await started(["gateway", "--config", config, "--http", "127.0.0.1:0"], MCP, { env });
  const call = (tool, message) => {
    const run = spawnSync(proof, ["client", "call", tool, `message=${message}`, url], { encoding: "utf8", cwd: folder });
    assert.equal(run.status, 0, run.stderr);
  };
  await on(["--gateway"], async (page) => {
    call("weather_echo", "rain?");
    call("files_echo", "any?");
    await filter(page, "method:tools/call status:ok", 4);
    const rows = await page.$$eval(".list .row:not([hidden])", (all) => all.map((row) => [row.classList.contains("child"), row.textContent]));
    const seen = (isChild, name) => rows.some(([child, text]) => child === isChild && text.includes(name));
    const client = " · clients without a sign-in at default";
    for (const [isChild, name] of [[false, `weather_echo${client}`], [true, "echo · upstream weather"], [false, `files_echo${client}`], [true, "echo · upstream files"]]) assert.ok(seen(isChild, name), `${name}: ${JSON.stringify(rows)}`);
    await page.locator(".list .row:not([hidden])").nth(1).click();
    await page.getByRole("button", { name: "Filter by side" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^(Resend|Edit)/ }).count(), 0);
    await looked(page, "running-gateway", "main");
    await view(page, "6");
    const servers = page.getByRole("region", { name: "Servers" });
    for (const label of [/^gateway \d+/, /^clients without a sign-in at default/, /^upstream weather/, /^upstream files/]) await servers.getByRole("button", { name: label }).waitFor();
    await page.getByText("Nothing can be sent from here").waitFor();
    assert.equal(await page.getByRole("button", { name: /^(re)?connect/i }).count(), 0);
    await looked(page, "running-gateway-sides", "main");
  }, { state: ["watched"], env: { XDG_RUNTIME_DIR: folder } });
});

test("a folder that is not there is an error with a remedy", () => {
  const run = spawnSync(proof, ["inspect", "--gateway", join(folder, "none")], { encoding: "utf8" });
  assert.equal(run.status, 2);
  assert.match(run.stderr, /is no folder[^]*try: start `proof gateway --record DIR` first/);
});

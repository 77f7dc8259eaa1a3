// The page on the recordings of a running gateway: what its clients send and get, also after a new file began and an old one went.
import test from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filter, folder, MCP, on, proof, started, view } from "./program.mjs";

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

test("a folder that is not there is an error with a remedy", () => {
  const run = spawnSync(proof, ["inspect", "--gateway", join(folder, "none")], { encoding: "utf8" });
  assert.equal(run.status, 2);
  assert.match(run.stderr, /is no folder[^]*try: start `proof gateway --record DIR` first/);
});

// The page and the program together: `proof fleet ui` computes gates of real servers, shows a finding with its request and response,
// and opens its trace in a real inspector.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, open } from "./driver.mjs";

const fleet = process.env.PAGE_FLEET;
if (!fleet) throw new Error("PAGE_FLEET names no program – run `cargo xtask page`");
const folder = mkdtempSync(join(tmpdir(), "page-fleet-"));
const example = join(dirname(fileURLToPath(import.meta.url)), "../../../../../docs/examples/weather.yaml");
let browser, child;
before(async () => { browser = await launch(); });
after(async () => {
  await browser.close();
  child?.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the page on two servers; the address that it prints. */
function started() {
  copyFileSync(example, join(folder, "weather.yaml"));
  writeFileSync(join(folder, "fleet.yaml"), `name: demo
defaults: { owner: ada@example.com, source: examples, stage: conforms }
servers:
  - { name: weather, catalog: weather.yaml }
  - { name: broken, command: [proof, serve, --stdio, --catalog, weather.yaml, --fault, wrong-id] }
stages:
  - { name: listed, gates: [listed] }
  - { name: starts, gates: [starts] }
  - { name: conforms, gates: [conforms] }
`);
  child = spawn(fleet, ["ui", "--no-open"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((resolve, reject) => {
    let said = "";
    const read = (piece) => {
      said += piece;
      const found = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`proof fleet ui exits with ${code}: ${said}`)));
  });
}

test("a fleet is run from the page, and a finding's trace is read in the inspector", async () => {
  const { page, wrong, context, close } = await open(browser, { url: await started() });
  await page.locator(".row .f-name").first().waitFor();
  await page.keyboard.press("R");
  await page.locator(".run-strip progress").waitFor();
  await page.locator(".f-gate[data-light=running]").first().waitFor({ timeout: 60_000 });
  await page.locator(".run-strip").getByText(/2 of 2 servers answered; 4 gates computed/).waitFor({ timeout: 240_000 });
  await page.keyboard.press("/");
  await page.keyboard.type("gate:conf is:failed");
  await page.waitForFunction(() => document.querySelector(".amount").textContent === "1 of 2");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "broken" }).waitFor();
  await page.locator(".gate", { hasText: "conforms" }).click();
  await page.locator(".found-head").first().click();
  await page.locator(".evidence").getByText("nobodys").first().waitFor();
  const [inspector] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("i")]);
  await inspector.locator(".row").first().waitFor({ timeout: 30_000 });
  assert.match(inspector.url(), /^http:\/\/127\.0\.0\.1:\d+\//);
  assert.ok(!inspector.url().includes("token"), "the token is taken out of the address");
  assert.deepEqual(wrong, []);
  await close();
});

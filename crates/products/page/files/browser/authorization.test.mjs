// Guided authorization in front of the authorization server of `proof serve`, well and with faults.
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { choose, filter, folder, looked, MCP, on, started } from "./program.mjs";

const serve = (...fault) => started(["serve", "--http", "127.0.0.1:0", "--auth", "dev", ...(fault.length ? ["--fault", ...fault] : [])], MCP);
const step = (page, name, outcome) => page.locator(`[data-step="${name}"][data-outcome="${outcome}"]`);
/** What a token of that server looks like. */
const TOKEN = /eyJ[\w-]{8,}\.eyJ/;

test("every step to a token, in the browser; the call with it; the connection uses it; nothing secret is shown or kept", async () => {
  await on([await serve()], async (page) => {
    await page.keyboard.press("O");
    await step(page, "challenge", "ok").waitFor();
    assert.match(await step(page, "challenge", "ok").innerText(), /HTTP 401/);
    await page.getByRole("button", { name: "All further steps" }).click();
    const link = page.locator("[data-consent]");
    await link.waitFor();
    for (const name of ["resource-metadata", "issuer-metadata", "registration"]) await step(page, name, "ok").waitFor();
    const shown = await page.locator('[data-step="authorization"]').innerText();
    assert.match(shown, /code_challenge_method\s+S256/);
    assert.match(shown, /state\s+concealed/);
    await looked(page, "authorization-consent", "[data-step=authorization]");
    const state = new URL(await link.getAttribute("href")).searchParams.get("state");
    const [consent] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await consent.getByRole("button", { name: "Allow" }).click();
    await consent.getByText("Thank you").waitFor();
    await consent.close();
    for (const name of ["authorization", "token", "call", "refresh"]) await step(page, name, "ok").waitFor();
    await page.getByText("Every step works.").waitFor();
    for (const summary of await page.locator(".guide summary").all()) await summary.click();
    const folded = page.locator(".guide .fold[aria-expanded=false]");
    while ((await folded.count()) > 0) await folded.first().click();
    await step(page, "token", "ok").getByText(/grant_type/).first().waitFor();
    await looked(page, "authorization-done", ".guide");
    const text = await page.locator("main").innerText();
    assert.doesNotMatch(text, TOKEN);
    assert.ok(!text.includes(state));
    await page.waitForFunction(() => document.querySelector(".dot")?.dataset.state === "open");
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Control+s")]);
    await download.saveAs(join(folder, "authorized.jsonl"));
    assert.doesNotMatch(readFileSync(join(folder, "authorized.jsonl"), "utf8"), TOKEN);
    await page.keyboard.press("2");
    await choose(page, "sum");
    await filter(page, "kind:http", "\\d+");
  }, { state: ["failed"] });
});

for (const [fault, failed, why] of [
  ["metadata-404", "resource-metadata", /no metadata where WWW-Authenticate says/],
  ["no-authorization-server", "resource-metadata", /names no authorization server/],
  ["issuer-over-http", "issuer-metadata", /not protected by https|elsewhere sends us/],
]) {
  test(`${fault}: the step ${failed} says what is wrong, and what to do`, async () => {
    await on([await serve(fault)], async (page) => {
      await page.keyboard.press("6");
      await page.getByRole("button", { name: "All steps" }).click();
      const place = step(page, failed, "failed");
      await place.waitFor();
      assert.match(await place.innerText(), why);
      assert.match(await place.innerText(), /Try: /);
      if (fault === "metadata-404") await looked(page, "authorization-failed", ".guide");
      assert.equal(await page.locator('[data-step][data-outcome="failed"]').count(), 1);
      await page.getByRole("button", { name: /^Try this step again/ }).waitFor();
    }, { state: ["failed"] });
  });
}

test("no-challenge: where WWW-Authenticate is missing, the usual addresses lead on", async () => {
  await on([await serve("no-challenge")], async (page) => {
    await page.keyboard.press("6");
    await page.getByRole("button", { name: "All steps" }).click();
    await page.locator("[data-consent]").waitFor();
    assert.match(await step(page, "challenge", "ok").innerText(), /names no metadata/);
    await page.getByRole("button", { name: "Stop" }).click();
    await step(page, "authorization", "failed").getByText("stopped on the page").waitFor();
  }, { state: ["failed"] });
});

test("a browser on another machine: the address is pasted; one with a foreign state is refused", async () => {
  await on([await serve()], async (page) => {
    await page.keyboard.press("6");
    await page.getByRole("button", { name: "All steps" }).click();
    const link = page.locator("[data-consent]");
    const box = page.getByLabel("Address that the browser was sent to");
    // What a browser elsewhere would be sent to, after the consent.
    const sentTo = async () => {
      const answer = await page.context().request.get(await link.getAttribute("href"), { maxRedirects: 0 });
      return answer.headers().location;
    };
    await link.waitFor();
    const foreign = new URL(await sentTo());
    foreign.searchParams.set("state", "foreign");
    await box.fill(foreign.href);
    await page.getByRole("button", { name: "Use this address" }).click();
    await step(page, "authorization", "failed").getByText(/state/).first().waitFor();
    await page.getByRole("button", { name: "All further steps" }).click();
    await link.waitFor();
    await box.fill(await sentTo());
    await page.getByRole("button", { name: "Use this address" }).click();
    await step(page, "call", "ok").waitFor();
  }, { state: ["failed"] });
});

test("the steps are for servers over HTTP alone", () => on(["--", process.execPath, "-e", "process.stdin.resume()"], async (page) => {
  await page.keyboard.press("O");
  await page.getByText("there is no server to get a token for here").waitFor();
}, { state: ["connecting", "failed"] }));

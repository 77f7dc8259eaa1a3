// Two sides: two revisions of one server, two servers, two connections of one server.
import test from "node:test";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fill, folder, on, proof } from "./program.mjs";
import { taken } from "./pictures.mjs";

/** A server with a tool whose answer, title and arguments are given. */
function catalogue(name, { says, title = "Greeting", more = "", argument = "" }) {
  const path = join(folder, name);
  writeFileSync(path, `name: greeter
version: "1.0"
tools:
  - name: greet
    title: ${title}
    description: Greets someone
    inputSchema:
      type: object
      properties:
        who: { type: string }
${argument}    answers:
      - text: "${says}"
${more}`);
  return path;
}

const ANOTHER = `  - name: part
    description: Says goodbye
    inputSchema: { type: object }
    answers:
      - text: "Goodbye"
`;
const summary = (page) => page.locator(".answers .beside-sum");

test("one server at two revisions: the same call, equal but for what the revision adds", () => on(["--revision", "2025-11-25", "--beside-revision", "2026-07-28", "--", proof, "serve", "--stdio"], async (page) => {
  assert.match(page.url(), /view=compare/);
  await page.getByRole("region", { name: "Server and capabilities" }).waitFor();
  await page.getByRole("region", { name: "Server and capabilities" }).getByText("io.modelcontextprotocol/tasks").waitFor();
  await page.getByLabel("Tool", { exact: true }).selectOption({ label: "sum" });
  await fill(page, { a: 2, b: 3 });
  await page.keyboard.press("Control+Enter");
  await summary(page).getByText(/^Equal but for \d+ values? that/).waitFor();
  const revisions = await page.$$eval(".answers .side b", (nodes) => nodes.map((node) => node.textContent));
  assert.match(revisions.join(), /2025-11-25.*2026-07-28/);
  await taken(page, "compare-revisions");
}));

test("two servers: what is only on one side, what changed, and answers that differ", async () => {
  const old = catalogue("old.yaml", { says: "Hello {{ arguments.who }}" });
  const fresh = catalogue("fresh.yaml", { says: "Hi {{ arguments.who }}", title: "Salute", more: ANOTHER, argument: "        loud: { type: boolean }\n" });
  await on(["--beside", `${proof} serve --stdio --catalog ${fresh}`, "--", proof, "serve", "--stdio", "--catalog", old], async (page) => {
    await page.getByText("Tools: 1 only on the right, 1 changed, 0 equal").waitFor();
    await page.locator(".offered > summary", { hasText: "greet" }).click();
    const change = page.getByRole("region", { name: "Tools: greet" });
    assert.deepEqual((await change.locator("[data-state=differs]").allTextContents()).map((text) => text.replaceAll(/\s+/g, " ").trim()), ['≠differs"title": "Greeting""title": "Salute"']);
    await change.locator("[data-state=right]", { hasText: "loud" }).waitFor();
    await page.getByLabel("Tool", { exact: true }).selectOption({ label: "greet" });
    await fill(page, { who: "Ada" });
    await page.keyboard.press("Control+Enter");
    await summary(page).getByText(/^1 difference/).waitFor();
    const row = page.getByRole("region", { name: "Answers" }).locator("[data-state=differs]");
    assert.match(await row.textContent(), /Hello Ada.*Hi Ada/s);
    await taken(page, "compare-servers");
    await page.keyboard.press("Escape");
    await page.locator("main").focus();
    await page.keyboard.press("s");
    await page.getByText("Tools: 1 only on the left, 1 changed, 0 equal").waitFor();
  });
});

test("after a reconnect: what changed since the connection before", async () => {
  const path = catalogue("changing.yaml", { says: "Hello" });
  await on(["--", proof, "serve", "--stdio", "--catalog", path], async (page) => {
    await page.keyboard.press("0");
    await page.getByText("one server with one connection").waitFor();
    await page.keyboard.press("2");
    await page.locator(".row:not([hidden])", { hasText: "greet" }).waitFor();
    catalogue("changing.yaml", { says: "Hello", more: ANOTHER });
    await page.keyboard.press("6");
    await page.getByRole("button", { name: "Reconnect" }).click();
    await page.waitForFunction(() => document.querySelectorAll("[aria-label=Sessions] tbody tr").length >= 2 && document.querySelector(".dot")?.dataset.state === "open");
    await page.keyboard.press("2");
    await page.getByText("The tools of greeter changed since the last connection: press D to see how").waitFor();
    await page.keyboard.press("D");
    await page.getByText("Tools: 1 only on the right, 1 equal").waitFor();
    await page.locator(".offered > summary", { hasText: "part" }).waitFor();
    await page.getByText("Prompts none").waitFor();
    await taken(page, "compare-connects");
  });
});

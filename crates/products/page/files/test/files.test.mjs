// The files that are served: those the contract names, no request to elsewhere, nothing that the policy forbids.
import test from "node:test";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const page = dirname(dirname(fileURLToPath(import.meta.url)));
const served = readdirSync(page, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(js|css|svg|html)$/.test(entry.name))
  .map((entry) => relative(page, join(entry.parentPath ?? entry.path, entry.name)))
  .filter((path) => !/^(test|browser)\//.test(path));
const read = (path) => readFileSync(join(page, path), "utf8");

test("every import is a file that is served, by its whole name", () => {
  for (const path of served.filter((one) => one.endsWith(".js"))) {
    for (const [, name] of read(path).matchAll(/^(?:import|export)[^;]*? from "([^"]+)"/gm)) {
      assert.ok(name.startsWith("."), `${path} imports ${name}`);
      assert.ok(served.includes(join(dirname(path), name)), `${path} imports ${name}`);
    }
  }
});

test("no file is served that nothing needs", () => {
  const needed = new Set(["index.html", "fleet/index.html"]);
  for (const path of served) {
    for (const [, name] of read(path).matchAll(/(?:from|src=|href=) ?"(\.{0,2}\/[\w./-]+)"/g)) needed.add(name.startsWith("/") ? name.slice(1) : join(dirname(path), name));
  }
  assert.deepEqual(served.filter((path) => !needed.has(path)), []);
});

test("own code makes no markup from text and names no other host", () => {
  for (const path of served.filter((one) => !one.startsWith("vendor/"))) {
    const text = read(path);
    for (const word of ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "dangerouslySetInnerHTML", "eval(", "new Function", "srcdoc", 'style="']) {
      assert.ok(!text.includes(word), `${path} has ${word}`);
    }
    const addresses = [...text.matchAll(/(?:url\(|src=|href=|fetch\()["'`]?(https?:)/g)];
    assert.deepEqual(addresses, [], path);
  }
});

test("the pages stay small", () => {
  const bytes = (/** @type {(path: string) => boolean} */ isPart) => served.filter(isPart).reduce((sum, path) => sum + Buffer.byteLength(read(path)), 0);
  const [inspect, fleet] = [bytes((path) => !path.startsWith("fleet/")), bytes((path) => path.startsWith("fleet/"))];
  assert.ok(inspect < 400_000 && fleet < 80_000, `${inspect} and ${fleet} bytes`);
  for (const path of served) assert.ok(read(path).split("\n").length <= 600 || path.startsWith("vendor/"), path);
});

test("the vendored files are those of the table", () => {
  const table = read("vendor/README.md");
  for (const name of ["preact.js", "hooks.js", "htm.js"]) {
    const digest = createHash("sha256").update(read(`vendor/${name}`)).digest("hex");
    const line = table.split("\n").find((one) => one.startsWith(`| ${name} `));
    assert.ok(line?.includes(digest), `${name} is ${digest}`);
  }
});

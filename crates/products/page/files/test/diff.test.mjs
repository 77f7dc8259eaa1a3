import test from "node:test";
import assert from "node:assert/strict";
import { folded, lines } from "../parts/diff.js";

const signs = (before, after) => lines(before, after).map(({ sign, text }) => sign + text);

test("what is equal stays, what differs is removed and added", () => {
  assert.deepEqual(signs("a\nb\nc", "a\nx\nc\nd"), [" a", "-b", "+x", " c", "+d"]);
  assert.deepEqual(signs("a", "a"), [" a"]);
  assert.deepEqual(signs("", "a"), ["-", "+a"]);
  assert.deepEqual(signs("a\nb", "b"), ["-a", " b"]);
});

test("both texts can be made from the difference", () => {
  let seed = 7;
  const random = (n) => { seed = (seed * 48_271) % 2_147_483_647; return seed % n; };
  for (let run = 0; run < 200; run += 1) {
    const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n");
    const [before, after] = [text(), text()];
    const found = lines(before, after);
    const side = (sign) => found.filter((line) => line.sign !== sign).map((line) => line.text).join("\n");
    assert.deepEqual([side("+"), side("-")], [before, after]);
  }
});

test("a huge difference is bounded", () => {
  const many = (word) => Array.from({ length: 20_000 }, (_, at) => word + at).join("\n");
  const begun = Date.now();
  assert.equal(lines(many("a"), many("b")).length, 40_000);
  assert.ok(Date.now() - begun < 2000);
});

test("equal runs are folded", () => {
  const text = (n) => Array.from({ length: 30 }, (_, at) => (at === 15 ? n : String(at))).join("\n");
  const shown = folded(lines(text("x"), text("y")));
  assert.deepEqual(shown.map(({ sign }) => sign).join(""), "…   -+   …");
  assert.equal(shown[0].text, "12 equal lines");
});

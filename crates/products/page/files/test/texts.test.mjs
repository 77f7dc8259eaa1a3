import test from "node:test";
import assert from "node:assert/strict";
import { clock, duration, named, size, visible, visibleLines } from "../format.js";
import { ExactNumber, parse, pointer, pretty, text, tryParse } from "../json.js";
import { ranked } from "../palette.js";
import { expand, variablesOf } from "../views/resources.js";

test("characters that hide or turn text are shown", () => {
  assert.equal(visible("a\u202eb\u200bc\u0000\u001b[31m"), "a\\u202eb\\u200bc\\u0000\\u001b[31m");
  assert.equal(visible("\u{e0041}"), "\\u{e0041}");
  assert.equal(visible("ä 漢 👍🏽 عربى"), "ä 漢 👍🏽 عربى");
  assert.equal(visible("a\nb\tc"), "a\\u000ab\\u0009c");
  assert.equal(visibleLines("a\r\nb\tc\u0007"), "a\nb\tc\\u0007");
});

test("characters without ink are shown", () => {
  const without = ["\u3164", "\u115f", "\u1160", "\uffa0", "\u2800", "\u180e", "\u034f", "\ufe0f", "\u17b4", "\u2064", "\ufe00", "\u00ad"];
  for (const char of without) {
    const code = `\\u${/** @type {number} */ (char.codePointAt(0)).toString(16).padStart(4, "0")}`;
    assert.deepEqual([visible(`ab${char}`), visibleLines(`${char}a`), named(char)], [`ab${code}`, `${code}a`, code]);
  }
  assert.equal(visible("\u{1d173}\u{e0100}"), "\\u{1d173}\\u{e0100}");
  // A picture may say how it looks, once.
  assert.equal(visible("❤\ufe0f 1\ufe0f ❤\ufe0f\ufe0f"), "❤\ufe0f 1\ufe0f ❤\ufe0f\\ufe0f");
});

test("a cut never splits a character", () => {
  assert.equal(visible("👍".repeat(10), 5), "👍👍…");
});

test("values that are no text have a text", () => {
  assert.deepEqual([visible(undefined), visible(null), visible(7), visible({})], ["", "", "7", "[object Object]"]);
});

test("a name without ink is quoted", () => {
  assert.deepEqual([named(""), named(undefined), named("  "), named("\n"), named("a")], ["(no name)", "(no name)", '"  "', "\\u000a", "a"]);
});

test("durations and sizes", () => {
  assert.deepEqual([0.25, 3.456, 250, 1500, 90_000].map(duration), ["250 µs", "3.46 ms", "250 ms", "1.50 s", "1 min 30 s"]);
  assert.deepEqual([0, 999, 2048, 5 * 1024 * 1024].map(size), ["0 B", "999 B", "2.0 KiB", "5.0 MiB"]);
  assert.deepEqual([duration(null), size(undefined), clock(NaN)], ["", "", ""]);
});

test("numbers keep their digits where the engine shows them", (t) => {
  const exact = parse('{"a":9007199254740993}').a;
  // Node 20 does not give the source to a reviver; browsers do, and the browser tests look at it.
  if (typeof exact === "number") t.diagnostic("this engine gives no source");
  else assert.equal(text({ a: exact }, 0), '{"a":9007199254740993}');
  assert.equal(text([new ExactNumber("1e400"), 1], 0), "[1e400,1]");
});

test("a mistake in JSON has a line and a column", () => {
  assert.match(tryParse('{\n  "a": x\n}').problem, /line 2|not JSON/);
  assert.equal(tryParse("[1]").problem, null);
});

test("text that is not JSON, or too deep, stays as it came", () => {
  assert.equal(pretty("{x"), "{x");
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  assert.equal(pretty(deep), deep);
});

test("a pointer escapes", () => {
  assert.equal(pointer(["a/b", "c~d", 0]), "/a~1b/c~0d/0");
});

test("the palette ranks beginnings first and needs every word", () => {
  const entries = ["Save the trace", "trace tool", "extra", "call"].map((label) => ({ label, kind: "" }));
  assert.deepEqual(ranked(entries, "tra").map(({ label }) => label), ["trace tool", "Save the trace", "extra"]);
  assert.deepEqual(ranked(entries, "trace sav").map(({ label }) => label), ["Save the trace"]);
});

test("templates of RFC 6570", () => {
  assert.deepEqual(variablesOf("a://{x}/{+y}{?z,w*}{&v:3}"), ["x", "y", "z", "w", "v"]);
  assert.equal(expand("a://{x}/{+y}{?z,w}", { x: "a b/c", y: "p/q", z: "1&2" }), "a://a%20b%2Fc/p/q?z=1%262");
  assert.equal(expand("{.x}{/x}{;x}{#x}{x:2}", { x: "abc" }), ".abc/abc;x=abc#abcab");
  assert.equal(expand("a{?none}b{/none}", {}), "ab");
  assert.equal(expand("{x}", { x: "\ud800" }), "%EF%BF%BD");
});

// The page of the fleet without a browser: order of rows, the line of a trend, ages, the address.
import test from "node:test";
import assert from "node:assert/strict";
import { age, comparison, points, stageName, trendWords } from "../fleet/rows.js";
import { fragmentOf, initial, ordered, placeFrom, reduce } from "../fleet/state.js";

const GATES = ["starts", "conforms"];
const row = (name, stage, gates, score = null, oldest = null, trend = [stage]) => [name, stage, null, gates, score, "", [], null, oldest, "", trend, "", 0];
const ROWS = [row("b", 2, "+x", 90, 2000), row("a", 5, "++", null, null), row("c", 1, "r.", 100, 1000, [3, 1])];
const names = (matched, sort) => ordered(ROWS, matched, sort, GATES).map(([name]) => name).join("");

test("rows are sorted by every column, and stay as they are without one", () => {
  assert.equal(names(null, ""), "bac");
  assert.equal(names(null, "nonsense"), "bac");
  assert.equal(names(null, "server"), "abc");
  assert.equal(names(null, "-stage"), "abc");
  assert.equal(names(null, "score"), "abc");
  assert.equal(names(null, "conforms"), "bca", "what needs attention first");
  assert.equal(names(null, "-age"), "cba", "the oldest, then the younger, then those without a result");
  assert.equal(names(null, "trend"), "cab");
  assert.equal(names([2, 0], ""), "cb");
  assert.equal(names([2, 0, 9], "server"), "bc");
  assert.equal(comparison("nonsense", GATES), undefined);
});

test("a trend is a line within its box, whatever its numbers", () => {
  for (const trend of [[3], [0, 8], [99, 0, 3], Array.from({ length: 13 }, (_, at) => at)]) {
    for (const place of points(trend, 8).split(" ")) {
      const [x, y] = place.split(",").map(Number);
      assert.ok(x >= 2 && x <= 54 && y >= 2 && y <= 14, place);
    }
  }
  assert.equal(points([0, 8], 8), "2.0,14.0 54.0,2.0");
  assert.equal(trendWords([3]), "no move yet");
  assert.equal(stageName(1, { stages: [{ name: "listed" }] }), "1 listed");
  assert.equal(stageName(0, null), "0");
});

test("ages are short", () => {
  const now = 1_000_000_000_000;
  assert.deepEqual([null, 1e9, 1e9 - 3599, 1e9 - 7200, 1e9 - 86_400 * 3].map((at) => age(at, now)), ["", "0 min", "59 min", "2 h", "3 d"]);
});

test("an address keeps what is shown, and nothing that it should not", () => {
  const place = { q: "gate:scan is:failed", sort: "-age", at: "a&b=c#d", open: true, view: "waivers", gate: "scanned" };
  assert.deepEqual(placeFrom(fragmentOf(place)), place);
  assert.equal(fragmentOf({ ...place, q: "", sort: "", at: "", open: false }), "");
  assert.equal(placeFrom("view=constructor").view, "gates");
});

test("changes of rows leave the others as they are; another server forgets what was unfolded", () => {
  let state = reduce(initial(), { type: "rows", rows: ROWS, seq: 1 });
  state = reduce(state, { type: "changed", rows: [[1, row("a", 6, "++")]], seq: 2 });
  assert.equal(state.rows[1][1], 6);
  assert.equal(state.rows[0], ROWS[0]);
  state = reduce({ ...state, server: { name: "a" }, finding: "f" }, { type: "select", at: "b" });
  assert.deepEqual([state.server, state.finding, state.place.gate], [null, "", ""]);
  assert.throws(() => reduce(state, { type: "nothing" }), /unknown action/);
});

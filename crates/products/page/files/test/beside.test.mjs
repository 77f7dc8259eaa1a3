import test from "node:test";
import assert from "node:assert/strict";
import { aligned, compared, equals, folded, nature, words } from "../parts/beside.js";

const states = (a, b) => aligned(a, b).filter(({ state }) => state !== "same").map(({ left, right, state }) => [state, left, right]);

test("equal values are equal whatever the order of their members", () => {
  const [a, b] = [{ x: 1, y: [{ p: 1, q: 2 }] }, { y: [{ q: 2, p: 1 }], x: 1 }];
  assert.ok(equals(a, b));
  assert.deepEqual(states(a, b), []);
  assert.equal(words(compared(aligned(a, b))), "Equal.");
  assert.ok(!equals([1, 2], [2, 1]));
});

test("what differs stands beside each other, what is missing on one side alone", () => {
  assert.deepEqual(states({ a: 1, b: "x", c: true }, { a: 2, b: "x", d: null }), [
    ["differs", '"a": 1,', '"a": 2,'], ["left", '"c": true,', null], ["right", null, '"d": null'],
  ]);
  assert.deepEqual(states({ a: { b: [1] } }, { a: { b: { c: 1 } } }).map(([state]) => state), ["differs", "differs", "differs"]);
});

test("an element that came or went does not make the others differ", () => {
  assert.deepEqual(states([1, 2, 3], [1, 3]), [["left", "2,", null]]);
  assert.deepEqual(states(["a", "b"], ["new", "a", "b"]), [["right", null, '"new",']]);
  assert.deepEqual(states([{ n: 1, v: 1 }], [{ n: 1, v: 2 }]), [["differs", '"v": 1', '"v": 2']]);
});

test("times, ids and what a revision adds differ by nature, and nothing else does", () => {
  const uuid = (last) => `0d9f3a52-1c4e-4b7a-9d1e-00000000000${last}`;
  for (const [name, a, b, why] of [
    ["at", "2026-11-27T11:00:00Z", "2026-11-27T11:00:01.250Z", "time"], ["at", 1795777200, 1795777201, "time"], ["at", 1795777200000, 1795777201000, "time"],
    ["id", uuid(1), uuid(2), "id"], ["taskId", "a", "b", "id"], ["token", "Zm9vYmFyYmF6cXV4MQ", "Zm9vYmFyYmF6cXV4Mg", "id"],
    ["text", `made at 2026-11-27 11:00 by ${uuid(1)}`, `made at 2026-11-27 11:01 by ${uuid(2)}`, "time or id"],
    ["resultType", undefined, "complete", "revision"], ["io.modelcontextprotocol/serverInfo", undefined, {}, "revision"],
    ["_meta", undefined, { "io.modelcontextprotocol/serverInfo": {} }, "revision"], ["_meta", undefined, { own: 1 }, ""], ["id", 1, 2, ""], ["name", "a", "b", ""], ["n", 3, 4, ""], ["text", "2026-11-27T11:00:00Z is late", "2026-11-27T11:00:00Z is early", ""],
    ["at", "2026-11-27T11:00:00Z", "never", ""], ["x", undefined, 1, ""], ["word", "internationalization", "internationalisation", ""], ["v", 1, "1", ""],
  ]) assert.equal(nature(name, a, b), why, `${name} ${a} ${b}`);
});

test("places are counted, not lines", () => {
  const found = compared(aligned({ a: 1, t: "2026-11-27T11:00:00Z" }, { a: 1, t: "2026-11-27T12:00:00Z", more: { x: { y: 1 } } }));
  assert.deepEqual(found, { differs: 1, nature: 1 });
  assert.equal(words({ differs: 0, nature: 1 }), "Equal but for 1 value that differs by nature (times, ids, what a revision adds).");
});

test("equal lines are folded, but for two around each difference", () => {
  const rows = aligned({ ...Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`m${at}`, at])), z: 1 }, { ...Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`m${at}`, at])), z: 2 });
  const shown = folded(rows);
  assert.equal(shown.filter((row) => typeof row === "number").reduce((sum, row) => sum + row, 0), 19);
  assert.equal(shown.filter((row) => typeof row !== "number").length, rows.length - 19);
});

test("names of the language itself are names like others", () => {
  assert.deepEqual(states(JSON.parse('{"__proto__":{"a":1},"constructor":1}'), JSON.parse('{"constructor":1}')).map(([state]) => state)[0], "left");
  assert.deepEqual(states({}, { toString: 1 }), [["right", null, '"toString": 1']]);
});

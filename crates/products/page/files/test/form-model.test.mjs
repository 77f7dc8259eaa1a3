import test from "node:test";
import assert from "node:assert/strict";
import { at, describe, first, numberFrom, problems, put, stateOf } from "../parts/form-model.js";
import { ExactNumber, text } from "../json.js";

const object = (properties, required = []) => ({ type: "object", properties, required });
const member = (field, name) => field.members.find((one) => one.name === name).field;

test("absent, null and value are three states", () => {
  const value = put(put({}, ["a"], null), ["b"], "");
  assert.deepEqual([stateOf(at(value, ["a"])), stateOf(at(value, ["b"])), stateOf(at(value, ["c"]))], ["null", "value", "absent"]);
  assert.deepEqual(put(value, ["a"], undefined), { b: "" });
});

test("every way to say nullable is nullable", () => {
  const field = describe(object({
    a: { type: ["string", "null"] }, b: { anyOf: [{ type: "integer" }, { type: "null" }] }, c: { type: "string", nullable: true },
    d: { enum: ["x", null] }, e: { oneOf: [{ type: "null" }, { const: "y" }] }, f: { type: "string" },
  }));
  const seen = field.members.map(({ name, field: one }) => [name, one.kind, one.nullable]);
  assert.deepEqual(seen, [["a", "string", true], ["b", "integer", true], ["c", "string", true], ["d", "enum", true], ["e", "enum", true], ["f", "string", false]]);
  assert.deepEqual(member(field, "d").options, ["x"]);
});

test("alternatives of constants are an enum with titles; other alternatives are JSON", () => {
  const field = describe(object({ a: { oneOf: [{ const: 1, title: "one" }, { const: 2 }] }, b: { oneOf: [{ type: "string" }, { type: "object" }] } }));
  assert.deepEqual([member(field, "a").labels, member(field, "a").options], [["one", "2"], [1, 2]]);
  assert.equal(member(field, "b").kind, "json");
});

test("references are followed, cycles and dead ends are not", () => {
  const tree = { $defs: { node: object({ name: { type: "string" }, next: { $ref: "#/$defs/node" } }), self: { $ref: "#/$defs/self" } }, ...object({ a: { $ref: "#/$defs/node" }, b: { $ref: "#/nowhere" }, c: { $ref: "https://example.com/x" }, d: { $ref: "#/$defs/self" } }) };
  const field = describe(tree);
  assert.equal(member(field, "a").kind, "object");
  for (const name of ["b", "c", "d"]) assert.equal(member(field, name).kind, "json", name);
});

test("a wide and deep schema has a bounded form", () => {
  const wide = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`m${n}`, { $ref: "#" }]));
  let fields = 0;
  const walk = (field) => { fields += 1; field.members.forEach((one) => walk(one.field)); };
  walk(describe(object(wide)));
  assert.ok(fields < 1000, `${fields} fields`);
});

test("hostile schemas make a form, not an exception", () => {
  for (const schema of [null, 7, [], { type: 5 }, { type: "object", properties: [] }, { type: "object", properties: { a: 3, b: null, c: false } }, { enum: [] }, { allOf: "x" }, { oneOf: [null, 3] }, { type: "object", required: "a", properties: { ["__proto__"]: { type: "string" } } }]) {
    const field = describe(schema);
    assert.ok(field.kind, JSON.stringify(schema));
    problems(field, first(field) ?? {});
  }
});

test("nothing is changed in place, and __proto__ is a member like others", () => {
  const before = { list: [{ a: 1 }] };
  const after = put(before, ["list", 0, "a"], 2);
  assert.deepEqual([before.list[0].a, after.list[0].a], [1, 2]);
  const odd = put({}, ["__proto__"], "x");
  assert.deepEqual([Object.keys(odd), Object.getPrototypeOf(odd) === Object.prototype], [["__proto__"], true]);
  assert.equal(at({}, ["constructor"]), undefined);
});

test("items of arrays are added, changed and removed", () => {
  const added = put(put({}, ["a", 0], "x"), ["a", 1], "y");
  assert.deepEqual(added, { a: ["x", "y"] });
  assert.deepEqual(put(added, ["a", 0], undefined), { a: ["y"] });
});

test("problems name the place", () => {
  const field = describe(object({ n: { type: "integer", minimum: 3 }, s: { type: "string", minLength: 2 }, list: { type: "array", items: { type: "boolean" } }, e: { enum: ["a"] } }, ["n", "s", "gone"]));
  const found = problems(field, { n: 2, s: "é", list: [true, "x"], e: "b" });
  assert.deepEqual(found.map(({ path }) => path), ["/n", "/s", "/list/1", "/e"]);
  assert.deepEqual(problems(field, {}).map(({ path }) => path), ["/n", "/s"]);
  assert.deepEqual(problems(field, { n: 3, s: "ab", list: [], e: "a" }), []);
  assert.deepEqual(problems(field, { n: null, s: "ab" }).map(({ message }) => message), ["null is not valid here"]);
});

test("what is required is there at first, with its default", () => {
  const field = describe(object({ a: { type: "string", default: "d" }, b: { type: "integer", minimum: 5 }, c: { type: "string" } }, ["a", "b"]));
  assert.deepEqual(first(field), { a: "d", b: 5 });
});

test("a typed number stays exact, and anything else stays text", () => {
  assert.equal(numberFrom("1.5"), 1.5);
  assert.equal(numberFrom("-0"), -0);
  assert.ok(numberFrom("9007199254740993") instanceof ExactNumber);
  assert.equal(text({ a: numberFrom("9007199254740993") }, 0), '{"a":9007199254740993}');
  assert.ok(numberFrom("1e999") instanceof ExactNumber);
  for (const typed of ["", "abc", "0x10", "1.", ".5", "01", "1,5", "Infinity"]) assert.equal(numberFrom(typed), typed);
});

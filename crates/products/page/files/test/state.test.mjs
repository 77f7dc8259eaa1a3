import test from "node:test";
import assert from "node:assert/strict";
import { Store, fragmentOf, initial, placeFrom, reduce, targetOf } from "../state.js";

test("a place survives the address", () => {
  const place = { view: "tools", q: 'name:"a b" & took>1s #', item: "3:", at: 12, target: 2 };
  assert.deepEqual(placeFrom(fragmentOf(place)), place);
  assert.equal(fragmentOf(initial().place), "");
});

test("a strange address is the first view", () => {
  assert.deepEqual(placeFrom("view=__proto__&at=-3&target=1.5&q"), { view: "traffic", q: "", item: "", at: 0, target: 0 });
});

test("the token is no part of a place", () => {
  assert.equal(fragmentOf({ ...initial().place, ...placeFrom("token=secret&view=log") }).includes("secret"), false);
});

test("reducers change only what they name", () => {
  const state = initial();
  const next = reduce(state, { type: "mark", n: 4 });
  assert.deepEqual([state.marks, next.marks, next.place === state.place], [[], [4], true]);
  assert.deepEqual(reduce(next, { type: "mark", n: 4 }).marks, []);
  assert.throws(() => reduce(state, { type: "unheard" }), /unheard/);
});

test("a notice is dismissed only while it is the same one", () => {
  let state = reduce(initial(), { type: "notice", text: "a" });
  state = reduce(state, { type: "notice", text: "b" });
  assert.equal(reduce(state, { type: "quiet", n: 1 }).notice.text, "b");
  assert.equal(reduce(state, { type: "quiet", n: 2 }).notice, null);
});

test("no change calls nobody", () => {
  const store = new Store(initial());
  let calls = 0;
  store.subscribe(() => { calls += 1; });
  store.dispatch({ type: "select", at: 0 });
  store.dispatch({ type: "follow", on: true });
  assert.equal(calls, 0);
  store.dispatch({ type: "select", at: 1 });
  assert.equal(calls, 1);
});

test("the target that is shown is the chosen one, or the first", () => {
  const server = { targets: [{ target: 1 }, { target: 2 }] };
  const state = { ...initial(), server };
  assert.equal(targetOf(state).target, 1);
  assert.equal(targetOf({ ...state, place: { ...state.place, target: 2 } }).target, 2);
  assert.equal(targetOf(initial()), null);
});

import test from "node:test";
import assert from "node:assert/strict";
import { changeWords, changesOf, connects, described, isLive, sidesFrom, sidesOf, sidesText } from "../sides.js";
import { initial } from "../state.js";

const target = (number, session, state = "open") => ({ target: number, session, state, label: `server ${number}` });
const at = (targets, sessions = [], item = "") => ({ ...initial(), place: { ...initial().place, item }, server: { targets, sessions: sessions.map(([session, of]) => ({ session, target: of })) } });

test("sides survive the address, and a strange address has none", () => {
  const sides = [{ target: 1, session: 0 }, { target: 2, session: 13 }];
  assert.deepEqual(sidesFrom(sidesText(sides)), sides);
  for (const text of ["", "1.0", "1.0~2", "a.0~1.0", "1.0~2.0~3.0", "-1.0~2.0", "1.0~2.0\n"]) assert.equal(sidesFrom(text), null, text);
});

test("two servers are compared, or the last two connections of one", () => {
  assert.deepEqual(sidesOf(at([target(1, 1), target(2, 2)])), [{ target: 1, session: 0 }, { target: 2, session: 0 }]);
  assert.equal(sidesOf(at([target(1, 1)], [[1, 1]])), null);
  const three = at([target(1, 3)], [[1, 1], [2, 1], [3, 1]]);
  assert.deepEqual(sidesOf(three), [{ target: 1, session: 2 }, { target: 1, session: 0 }]);
  assert.deepEqual(connects(three, 1), sidesOf(three));
  assert.equal(connects(three, 2), null);
  // A target that is not there is not compared.
  assert.deepEqual(sidesOf(at([target(1, 1), target(2, 2)], [], "1.0~9.0"))[1].target, 2);
});

test("only the open connection of a server can be asked", () => {
  const state = at([target(1, 3), target(2, 4, "closed")]);
  assert.deepEqual([{ target: 1, session: 0 }, { target: 1, session: 3 }, { target: 1, session: 2 }, { target: 2, session: 0 }, { target: 9, session: 0 }].map((side) => isLive(state, side)), [true, true, false, false, false]);
});

test("what came, went and changed between two lists", () => {
  const changes = changesOf([{ name: "a", x: 1, y: 2 }, { name: "b" }, { name: "d", v: 1 }, { name: "e" }, { name: "e", second: 1 }], [{ y: 2, x: 1, name: "a" }, { name: "c" }, { name: "d", v: 2 }, { name: "e" }, { name: "e", second: 1 }], "name");
  assert.deepEqual(changes.map(({ name, change }) => [name, change]), [["a", "same"], ["b", "left"], ["d", "changed"], ["e", "same"], ["e (2)", "same"], ["c", "right"]]);
  assert.equal(changeWords(changes), "1 only on the right, 1 only on the left, 1 changed");
  assert.equal(changesOf(null, [], "name"), null);
  assert.deepEqual(changesOf([], [], "name"), []);
  assert.deepEqual(changesOf([null, 1], [null, 1], "name").map(({ change }) => change), ["same", "same"]);
});

test("a greeting of either era has the same members", () => {
  const said = { name: "s", version: "1" };
  const legacy = described({ protocolVersion: "2025-11-25", serverInfo: said, capabilities: { tools: {} } });
  const modern = described({ supportedVersions: [], _meta: { "io.modelcontextprotocol/serverInfo": said }, capabilities: { tools: {} } });
  assert.deepEqual(legacy, modern);
  assert.equal(described(null), undefined);
});

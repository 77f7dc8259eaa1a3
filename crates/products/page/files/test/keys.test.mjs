import test from "node:test";
import assert from "node:assert/strict";
import { COMMANDS, commandFor, keyLabel } from "../keys.js";

const list = { typing: false, pressable: false, inList: true, view: "traffic", dialog: false, letters: true };
const press = (key, more = {}) => ({ key, ...more });

test("the keys that were promised", () => {
  const promised = { j: "next", k: "previous", g: "first", G: "last", "/": "filter", "?": "help", f: "follow", Enter: "open", Escape: "back", e: "edit", r: "resend", t: "to-test", c: "call", v: "mark" };
  for (const [key, id] of Object.entries(promised)) assert.equal(commandFor(press(key), list), id, key);
  assert.equal(commandFor(press("k", { ctrlKey: true }), list), "palette");
  assert.equal(commandFor(press("K", { metaKey: true }), list), "palette");
});

test("letters are text where text is typed", () => {
  const typing = { ...list, typing: true, inList: false };
  for (const key of ["j", "r", "/", "?", " ", "1", "Enter", "ArrowDown"]) assert.equal(commandFor(press(key), typing), null, key);
  assert.equal(commandFor(press("Escape"), typing), "back");
  assert.equal(commandFor(press("Enter", { ctrlKey: true }), typing), "send");
});

test("Enter with Ctrl sends, with Shift as well as a task", () => {
  const typing = { ...list, typing: true, inList: false, view: "tools" };
  assert.equal(commandFor(press("Enter", { ctrlKey: true, shiftKey: true }), typing), "call-task");
  assert.equal(commandFor(press("Enter", { ctrlKey: true }), typing), "send");
  assert.equal(commandFor(press("K", { ctrlKey: true, shiftKey: true }), typing), "palette");
});

test("keys of the tasks and of comparisons do nothing elsewhere", () => {
  for (const [key, view, id] of [["p", "tasks", "poll-task"], ["x", "tasks", "cancel-task"], ["s", "compare", "swap"]]) {
    assert.equal(commandFor(press(key), { ...list, view }), id, key);
    assert.equal(commandFor(press(key), { ...list, view: "tools" }), null, key);
  }
});

test("a button is pressed by Enter and space, and dialogs keep their keys", () => {
  assert.equal(commandFor(press("Enter"), { ...list, pressable: true }), null);
  assert.equal(commandFor(press(" "), { ...list, pressable: true }), null);
  assert.equal(commandFor(press("j"), { ...list, dialog: true }), null);
});

test("letters can be turned off, other keys stay", () => {
  const off = { ...list, letters: false };
  assert.equal(commandFor(press("j"), off), null);
  assert.equal(commandFor(press("ArrowDown"), off), "next");
  assert.equal(commandFor(press("k", { ctrlKey: true }), off), "palette");
});

test("keys of the traffic do nothing elsewhere", () => {
  assert.equal(commandFor(press("r"), { ...list, view: "tools" }), null);
  assert.equal(commandFor(press("j"), { ...list, view: "tools" }), "next");
});

test("keys of the browser are left alone", () => {
  for (const key of ["r", "c", "t", "l", "f", "ArrowLeft"]) assert.equal(commandFor(press(key, { ctrlKey: true }), list), null, key);
  assert.equal(commandFor(press("j", { altKey: true }), list), null);
});

test("no key stands for two commands in one place", () => {
  const seen = new Map();
  for (const { id, keys } of COMMANDS) {
    for (const key of keys) {
      assert.ok(!seen.has(key), `${key}: ${seen.get(key)} and ${id}`);
      seen.set(key, id);
    }
  }
  assert.equal(keyLabel("Escape"), "Esc");
});

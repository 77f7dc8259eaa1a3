import test from "node:test";
import assert from "node:assert/strict";
import { COLUMN, RowStore, fits } from "../rows.js";
import { BlockReader } from "../feed.js";

const row = (n, status = "ok") => { const made = Array(17).fill(""); made[COLUMN.n] = n; made[COLUMN.status] = status; return made; };
const block = (more) => ({ seq: 1, rows: [], gone: [], matched: 0, total: 0, first: 1, appended: 0, moved: false, skipped: 0, ...more });
const numbers = (store, from, to) => Array.from({ length: to - from }, (_, at) => store.row(from + at)?.[0]);

function storeOf(all) {
  const queries = [];
  const store = new RowStore(async (query) => {
    queries.push(query);
    const rows = all.slice(query.from, query.from + query.count);
    return { seq: 5, total: all.length, matched: all.length, from: query.from, rows };
  }, () => {});
  return { store, queries };
}

test("only what is in sight and unknown is read, once", async () => {
  const { store, queries } = storeOf(Array.from({ length: 1000 }, (_, at) => row(at + 1)));
  store.matched = 1000;
  store.want(190, 210);
  store.want(190, 210);
  await new Promise((done) => setTimeout(done));
  store.want(190, 210);
  assert.deepEqual(queries, [{ from: 0, count: 200 }, { from: 200, count: 200 }]);
  assert.deepEqual(numbers(store, 198, 202), [199, 200, 201, 202]);
});

test("new rows go to the end, changed ones stay in place", () => {
  const { store } = storeOf([]);
  store.feed(block({ rows: [row(1), row(2, "pending")], matched: 2, total: 2, appended: 2 }));
  store.feed(block({ rows: [row(2, "ok"), row(3)], matched: 3, total: 3, appended: 1 }));
  assert.deepEqual(numbers(store, 0, 3), [1, 2, 3]);
  assert.equal(store.row(1)[COLUMN.status], "ok");
});

test("a changed row of which the place is unknown is not put anywhere", () => {
  const { store } = storeOf([]);
  store.feed(block({ rows: [row(7), row(900)], matched: 500, total: 900, appended: 1 }));
  assert.deepEqual([store.place(7), store.place(900)], [-1, 499]);
});

test("rows that were skipped leave gaps, not wrong places", () => {
  const { store } = storeOf([]);
  store.feed(block({ rows: [row(1)], matched: 1, total: 1, appended: 1 }));
  store.feed(block({ rows: [row(40), row(41)], matched: 41, total: 41, appended: 40, skipped: 38 }));
  assert.deepEqual([store.matched, store.place(40), store.place(1)], [41, -1, 0]);
});

test("after a change in the middle all places are read again", () => {
  const { store } = storeOf([]);
  store.feed(block({ rows: [row(1), row(2)], matched: 2, total: 2, appended: 2 }));
  store.feed(block({ rows: [], gone: [1], matched: 1, total: 2, moved: true }));
  // The old ones stay in sight until then, but have no place.
  assert.deepEqual([store.matched, store.row(0)[0], store.place(1), store.byIndex.size], [1, 1, -1, 0]);
  store.take({ seq: 2, total: 2, matched: 1, from: 0, rows: [row(2)] });
  assert.deepEqual([store.row(0)[0], store.place(2)], [2, 0]);
});

test("an old answer does not undo what the feed brought", () => {
  const { store } = storeOf([]);
  store.feed(block({ seq: 9, rows: [row(1, "ok")], matched: 1, total: 1, appended: 1 }));
  store.take({ seq: 3, total: 1, matched: 1, from: 0, rows: [row(1, "pending")] });
  assert.equal(store.row(0)[COLUMN.status], "ok");
});

test("the page remembers a bounded number of rows", async () => {
  const { store } = storeOf(Array.from({ length: 60_000 }, (_, at) => row(at + 1)));
  store.matched = 60_000;
  for (let from = 0; from < 60_000; from += 200) {
    store.want(from, from + 200);
    await Promise.resolve();
  }
  await new Promise((done) => setTimeout(done, 20));
  assert.ok(store.byIndex.size <= 31_000, `${store.byIndex.size} rows`);
  assert.equal(store.byIndex.size, store.indexOf.size);
});

test("the columns are those of the contract", () => {
  assert.ok(fits(Object.keys(COLUMN)));
  assert.ok(!fits(["n", "session"]));
});

test("blocks are read from any pieces", () => {
  const text = 'event: rows\nid: 3\ndata: {"a":1}\n\n:\n\nevent: bye\ndata: {}\n\n';
  for (const size of [1, 3, 7, 100]) {
    const reader = new BlockReader();
    const blocks = [];
    for (let at = 0; at < text.length; at += size) blocks.push(...reader.read(text.slice(at, at + size)));
    assert.deepEqual(blocks, [{ event: "rows", id: "3", data: '{"a":1}' }, { event: "bye", id: "", data: "{}" }]);
  }
});

test("a long block in many pieces is read in the time of its length", () => {
  const reader = new BlockReader();
  const piece = "x".repeat(1000);
  const begun = performance.now();
  reader.read("data: ");
  for (let n = 0; n < 8000; n += 1) assert.deepEqual(reader.read(piece), []);
  const [block] = reader.read("\n\n");
  assert.equal(block.data.length, 8_000_000);
  assert.ok(performance.now() - begun < 1500, `${performance.now() - begun} ms`);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { RecordBatch } from "../../../src/proxy/exchange/record-batch.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { prepareExchanges, recordCompleted } from "./start-exchange.ts";

/** A batch, and what happens in order: `write a b` and `end a`. */
function startBatch() {
  const events: string[] = [];
  const batch = new RecordBatch({
    append: (records) => events.push(["write", ...records.map(({ id }) => id)].join(" ")),
  });
  const add = (id: string, onWritten = () => {}) =>
    batch.add(usageRecord({ id }), true, () => {
      events.push(`end ${id}`);
      onWritten();
    });
  return { batch, events, add };
}

test("records of one turn of the event loop are written together, before any response ends", async () => {
  const { events, add } = startBatch();
  add("a");
  await Promise.resolve();
  add("b");
  process.nextTick(() => add("c"));
  assert.deepEqual(events, []);
  await setImmediate();
  assert.deepEqual(events, ["write a b c", "end a", "end b", "end c"]);
  add("d");
  await setImmediate();
  assert.deepEqual(events.slice(4), ["write d", "end d"]);
});

test("a record that comes while responses end is written with the next batch", async () => {
  const { events, add } = startBatch();
  add("a", () => add("c"));
  add("b");
  await setImmediate();
  assert.deepEqual(events, ["write a b", "end a", "end b"]);
  await setImmediate();
  assert.deepEqual(events.slice(3), ["write c", "end c"]);
});

test("a batch that was flushed is not written again", async () => {
  const { batch, events, add } = startBatch();
  add("a");
  batch.flush();
  batch.flush();
  assert.deepEqual(events, ["write a", "end a"]);
  await setImmediate();
  assert.equal(events.length, 2);
});

test("the only exchange under way is recorded at once, and others at the end of the turn", async () => {
  const { start, ledger, running } = prepareExchanges();
  const [first, second] = [start(), start()];
  const ended: string[] = [];
  recordCompleted(first, () => ended.push("first"));
  assert.deepEqual([ledger.records.length, running.size, ended], [0, 2, []]);
  await setImmediate();
  assert.deepEqual([ledger.records.length, running.size, ended], [1, 1, ["first"]]);
  recordCompleted(second, () => ended.push("second"));
  assert.deepEqual([ledger.records.length, running.size, ended], [2, 0, ["first", "second"]]);
});

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { prepareExchanges, recordCompleted } from "./start-exchange.ts";

/** Exchanges whose clock and timer the test moves. `pass` lets milliseconds pass, `timers` counts the timers that were set. */
function holdExchanges(t: TestContext, ledgerConfig: { noteAfterMs?: number } = {}) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const prepared = prepareExchanges(ledgerConfig);
  const set = t.mock.method(globalThis, "setInterval");
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      prepared.clock.advance(50);
      t.mock.timers.tick(50);
    }
  };
  return { ...prepared, pass, timers: () => set.mock.callCount() };
}

test("an exchange that is recorded within 0.75 s is never noted", (t) => {
  const { start, ledger, batch, pass } = holdExchanges(t);
  const exchange = start();
  pass(750);
  recordCompleted(exchange);
  // Its record is still to be written.
  pass(2000);
  batch.flush();
  assert.deepEqual([ledger.notes.length, ledger.records.length], [0, 1]);
});

test("an exchange is noted before it has lasted a second, as a crash would leave it, with the id of its record", (t) => {
  const { start, ledger, batch, pass } = holdExchanges(t);
  pass(50);
  const exchange = start();
  pass(1000);
  recordCompleted(exchange);
  batch.flush();
  const [note, another] = ledger.notes;
  const { outcome, cut_by, usage, spend, tokens, status, duration_ms } = note ?? {};
  assert.deepEqual(
    { outcome, cut_by, usage, spend, tokens, status },
    { outcome: "cut", cut_by: "crash", usage: "absent", spend: "never", tokens: null, status: null },
  );
  assert.ok(duration_ms !== undefined && duration_ms >= 800 && duration_ms <= 1000);
  assert.equal(another, undefined);
  const [record] = ledger.records;
  assert.deepEqual([record?.id, record?.ts], [note?.id, note?.ts]);
  assert.equal(record?.cut_by, null);
});

for (const noteAfterMs of [0, 5000]) {
  test(`with "noteAfterMs": ${noteAfterMs} an exchange is noted then, and not much earlier`, (t) => {
    const { start, ledger, pass } = holdExchanges(t, { noteAfterMs });
    start();
    pass(noteAfterMs - 250);
    assert.equal(ledger.notes.length, 0);
    pass(250 + (noteAfterMs === 0 ? 100 : 0));
    assert.equal(ledger.notes.length, 1);
  });
}

test("a note is renewed once a minute, and not after the record", (t) => {
  const { start, ledger, pass } = holdExchanges(t);
  const exchange = start();
  pass(3 * 60_000 + 30_000);
  recordCompleted(exchange);
  pass(2 * 60_000);
  const times = ledger.notes.map(({ duration_ms }) => duration_ms);
  assert.equal(times.length, 4);
  for (const [i, time] of times.entries()) {
    if (i > 0) assert.ok(time - (times[i - 1] ?? 0) >= 60_000, `noted after ${times.join(", ")} ms`);
  }
  assert.equal(new Set(ledger.notes.map(({ id }) => id)).size, 1);
});

test("a note is renewed once when the first content comes, and no sooner than in a minute after that", (t) => {
  const { start, ledger, pass } = holdExchanges(t);
  const exchange = start();
  pass(5000);
  exchange.sawFirstContent();
  pass(30_000);
  const [early, withContent, ...more] = ledger.notes;
  assert.deepEqual([early?.ttft_ms, withContent?.ttft_ms, more], [null, 5000, []]);
  const quick = start();
  quick.sawFirstContent();
  pass(20_000);
  assert.equal(ledger.notes.length, 3);
});

test("one timer serves all exchanges, and stops when there are none", (t) => {
  const { start, ledger, batch, pass, timers } = holdExchanges(t);
  const exchanges = Array.from({ length: 1000 }, start);
  pass(1000);
  assert.deepEqual([timers(), ledger.notes.length], [1, 1000]);
  for (const exchange of exchanges) recordCompleted(exchange);
  batch.flush();
  pass(1000);
  start();
  assert.equal(timers(), 2);
});

test("a ledger that takes no notes is asked once a second, and an exchange is recorded all the same", async (t) => {
  const { start, ledger, clock, pass } = holdExchanges(t);
  const asked: number[] = [];
  const refuse = t.mock.method(ledger, "note", () => asked.push(clock.tickMs) < 0);
  const exchange = start();
  start();
  pass(5000);
  assert.equal(asked.length, 5);
  refuse.mock.restore();
  pass(1000);
  assert.equal(ledger.notes.length, 2);
  recordCompleted(exchange);
  assert.equal((await ledger.only()).outcome, "completed");
});

test("exchanges that are due are noted together, and of renewals a hundred in one look", (t) => {
  const { start, ledger, pass } = holdExchanges(t);
  const note = t.mock.method(ledger, "note");
  const counts = () => note.mock.calls.map(({ arguments: [records] }) => records.length);
  for (let i = 0; i < 250; i += 1) start();
  pass(900);
  assert.deepEqual(counts(), [250]);
  pass(59_500);
  assert.deepEqual(counts(), [250]);
  pass(1000);
  assert.deepEqual(counts(), [250, 100, 100, 50]);
  const renewed = ledger.notes.slice(250).map(({ id }) => id);
  assert.equal(new Set(renewed).size, 250);
});

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { cursorAtEnd, openLedger } from "../../../src/adapters/ledger-file.ts";
import { LedgerMetrics } from "../../../src/daemon/metrics/ledger-metrics.ts";
import { ledgerScratchDirectory, startLedger } from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const PRICES = {
  prices: {},
  priceTable: null,
  upstreams: {
    default: {
      name: "default",
      baseUrl: "https://api.openai.com/v1",
      auth: "bearer",
      prices: {},
      discount: 0,
    },
  },
} as const;

/** A ledger with its metrics, whose checkpoint is in a directory of its own. */
async function start(
  t: TestContext,
  { written = 0, path = join(ledgerScratchDirectory(t), "metrics.json") } = {},
) {
  const started = startLedger(t);
  for (let count = 0; count < written; count += 1) started.ledger.append([usageRecord()]);
  const { directory, clock, log } = started;
  const open = (at = directory) => LedgerMetrics.open({ path, clock, log }, at, PRICES);
  return { ...started, path, open, metrics: await open() };
}

/** How many requests have been counted. */
function requestsOf(metrics: LedgerMetrics): number {
  const found = metrics.describe().find(({ name }) => name === "tollkeeper.requests");
  return [...(found?.points ?? [])].reduce((sum, { value }) => sum + Number(value), 0);
}

test("counts all of the ledger once, and from then on what is appended", async (t) => {
  const { ledger, metrics } = await start(t, { written: 3 });
  await metrics.count();
  assert.equal(requestsOf(metrics), 3);
  ledger.append([usageRecord(), usageRecord()]);
  assert.equal(requestsOf(metrics), 3);
  await Promise.all([metrics.count(), metrics.count(), metrics.count()]);
  assert.equal(requestsOf(metrics), 5);
});

test("goes on after a crash: with no checkpoint, with an old one and with a damaged one", async (t) => {
  const { ledger, clock, path, metrics, open } = await start(t, { written: 3 });
  await metrics.count();
  assert.equal(existsSync(path), false);
  const second = await open();
  clock.advance(60_000);
  await second.count();
  assert.deepEqual([requestsOf(second), existsSync(path)], [3, true]);
  ledger.append([usageRecord(), usageRecord()]);
  await second.count();
  const third = await open();
  assert.equal(requestsOf(third), 3);
  await third.count();
  assert.equal(requestsOf(third), 5);
  const whole = readFileSync(path, "utf8");
  for (const damaged of [
    whole.slice(0, 40),
    "{}",
    whole.replace('"series":', '"serie":'),
    whole.replace('"v":1', '"v":2'),
  ]) {
    writeFileSync(path, damaged);
    const next = await open();
    await next.count();
    assert.equal(requestsOf(next), 5, damaged.slice(0, 80));
  }
});

test("a stop keeps what was counted, and the checkpoint is for our user alone", async (t) => {
  const { path, metrics, open } = await start(t, { written: 3 });
  await metrics.count();
  await metrics.close();
  const again = await open();
  assert.equal(requestsOf(again), 3);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("a long ledger is counted in a thread, and what is appended meanwhile counts once", async (t) => {
  const { directory, ledger, metrics, path, open } = await start(t);
  const lines = Array.from(
    { length: 9_000 },
    (_, id) => `${JSON.stringify(usageRecord({ id: `long-${id}` }))}\n`,
  ).join("");
  writeFileSync(join(directory, "2026-11-20.ndjson"), lines, { mode: 0o600 });
  assert.ok(lines.length > 9 * 512 * 1024);
  const counting = metrics.count();
  ledger.append([usageRecord(), usageRecord()]);
  await counting;
  await metrics.count();
  assert.equal(requestsOf(metrics), 9_002);
  assert.equal(existsSync(path), true);
  const again = await open();
  await again.count();
  assert.equal(requestsOf(again), 9_002);
});

test("a ledger that moves loses nothing of the old directory, and counts nothing twice of the new one", async (t) => {
  const { ledger, metrics, log, clock } = await start(t, { written: 3 });
  await metrics.count();
  const there = join(ledgerScratchDirectory(t), "ledger");
  const elsewhere = openLedger({ directory: there, retainDays: 400, clock, log, onNewDay: () => {} });
  elsewhere.append([usageRecord(), usageRecord()]);
  elsewhere.close();
  const place = { directory: there, cursor: cursorAtEnd(there) };
  ledger.append([usageRecord()]);
  await metrics.count();
  ledger.append([usageRecord()]);
  ledger.moveTo({ directory: there, retainDays: 400 });
  metrics.moveTo(place);
  ledger.append([usageRecord()]);
  await metrics.count();
  assert.equal(requestsOf(metrics), 6);
});

test("a ledger that was moved while nothing ran goes on where it is now", async (t) => {
  const { directory, ledger, metrics, open, log, clock } = await start(t, { written: 3 });
  await metrics.count();
  await metrics.close();
  ledger.append([usageRecord()]);
  const there = join(ledgerScratchDirectory(t), "ledger");
  const elsewhere = openLedger({ directory: there, retainDays: 400, clock, log, onNewDay: () => {} });
  t.after(() => elsewhere.close());
  elsewhere.append([usageRecord(), usageRecord()]);
  const moved = await open(there);
  elsewhere.append([usageRecord()]);
  await moved.count();
  assert.equal(requestsOf(moved), 5);
  assert.notEqual(there, directory);
});

test("a ledger that cannot be read gives no metrics, is reported once, and counts on when it can be", async (t) => {
  const { directory, ledger, metrics, log } = await start(t, { written: 3 });
  await metrics.count();
  const file = join(directory, "2026-11-20.ndjson");
  symlinkSync("elsewhere", file);
  ledger.append([usageRecord()]);
  await assert.rejects(metrics.count());
  await assert.rejects(metrics.count());
  assert.equal(
    log.lines.filter((line) => line.startsWith("warn the ledger cannot be read for metrics")).length,
    1,
  );
  rmSync(file);
  await metrics.count();
  assert.equal(requestsOf(metrics), 4);
});

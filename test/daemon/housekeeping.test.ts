import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readLedger } from "../../src/adapters/ledger-file.ts";
import { defaultConfig, priceSettingsOf } from "../../src/core/config/config.ts";
import { housekeepingFor } from "../../src/daemon/housekeeping.ts";
import { MemoryLog } from "../helpers/gate/memory.ts";
import { ledgerScratchDirectory } from "../helpers/ledger/ledger.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";

const PRICES = priceSettingsOf(defaultConfig);
const NOW = Date.parse("2026-11-21T12:00:00Z");

function ledgerWith(t: TestContext, days: readonly string[]): string {
  const directory = join(ledgerScratchDirectory(t), "ledger");
  mkdirSync(directory, { mode: 0o700 });
  for (const day of days) {
    const record = usageRecord({ ts: `${day}T10:00:00.000Z` });
    writeFileSync(join(directory, `${day}.ndjson`), `${JSON.stringify(record)}\n`, { mode: 0o600 });
  }
  return directory;
}

test("days that are over are compressed with their sums beside them, and old records are deleted, in a thread", async (t) => {
  const days = ["2026-11-01", "2026-11-17", "2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21"];
  const directory = ledgerWith(t, days);
  const log = new MemoryLog();
  await housekeepingFor(log)({ directory, retainDays: 10 }, NOW, PRICES);
  assert.deepEqual(readdirSync(directory).sort(), [
    "2026-11-01.kept",
    "2026-11-17.details",
    "2026-11-17.ndjson.gz",
    "2026-11-17.rollup",
    "2026-11-18.details",
    "2026-11-18.ndjson.gz",
    "2026-11-18.rollup",
    "2026-11-19.details",
    "2026-11-19.ndjson.gz",
    "2026-11-19.rollup",
    "2026-11-20.ndjson",
    "2026-11-21.ndjson",
  ]);
  const read: string[] = [];
  for await (const entry of readLedger(directory, { from: "" }))
    if ("ts" in entry) read.push(entry.ts.slice(0, 10));
  assert.deepEqual(read, days.slice(1));
  assert.equal(log.lines.length, 2);
  assert.match(
    log.lines[0] ?? "",
    /^info an old day of the ledger was deleted; its sums are kept .*2026-11-01\.ndjson/,
  );
  assert.match(log.lines[1] ?? "", /^info days of the ledger that are over were compressed .*3/);
});

test("nothing is done and no thread is started where no day is over", async (t) => {
  const directory = ledgerWith(t, ["2026-11-20", "2026-11-21"]);
  const log = new MemoryLog();
  const before = readdirSync(directory);
  await housekeepingFor(log)({ directory, retainDays: 10 }, NOW, PRICES);
  assert.deepEqual(readdirSync(directory), before);
  assert.deepEqual(log.lines, []);
});

test("a day that cannot be closed is logged with the reason", async (t) => {
  const directory = ledgerWith(t, ["2026-11-18"]);
  mkdirSync(join(directory, "2026-11-17.ndjson"));
  const log = new MemoryLog();
  await housekeepingFor(log)({ directory, retainDays: 10 }, NOW, PRICES);
  assert.match(
    log.lines.at(-1) ?? "",
    /^warn a day of the ledger that is over could not be .*2026-11-17.*not a regular file/,
  );
});

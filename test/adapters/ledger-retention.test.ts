import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { scratchDirectory, startLedger } from "../helpers/ledger.ts";
import { usageRecord } from "../helpers/usage-record.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

function directoryWith(t: TestContext, names: string[]): string {
  const directory = join(scratchDirectory(t), "ledger");
  mkdirSync(directory, { mode: 0o700 });
  for (const name of names) writeFileSync(join(directory, name), "");
  return directory;
}

test("days older than the retention are deleted at start, with what was torn off them; no other name is", (t) => {
  const kept = [
    "2026-11-18.ndjson",
    "2026-11-18.torn",
    "2026-11-21.ndjson",
    "2026-11-01.ndjson.gz",
    "2026-13-01.ndjson",
    "notes-2026-11-01.ndjson",
    "summary.json",
  ];
  const directory = directoryWith(t, [...kept, "2026-11-17.ndjson", "2026-11-17.torn", "2024-02-29.ndjson"]);
  const { log } = startLedger(t, { directory, retainDays: 3 });
  assert.deepEqual(readdirSync(directory).sort(), kept.sort());
  assert.equal(log.lines.filter((line) => line.startsWith("info an old day")).length, 3);
});

test("a new day gets a file of its own, and the oldest goes", (t) => {
  const directory = directoryWith(t, []);
  const { ledger, clock } = startLedger(t, { directory, retainDays: 1 });
  for (const ts of ["2026-11-21T12:00:00.000Z", "2026-11-22T12:00:00.000Z", "2026-11-23T12:00:00.000Z"]) {
    ledger.append(usageRecord({ ts }));
    clock.advance(DAY_MS);
  }
  assert.deepEqual(readdirSync(directory).sort(), ["2026-11-22.ndjson", "2026-11-23.ndjson"]);
});

test("a day that cannot be deleted stops nothing", (t) => {
  const directory = directoryWith(t, []);
  mkdirSync(join(directory, "2026-11-01.torn"));
  const { ledger, log, ids } = startLedger(t, { directory, retainDays: 1 });
  assert.match(log.lines[0] ?? "", /^warn old days of the ledger could not be deleted/);
  ledger.append(usageRecord({ id: "a" }));
  assert.deepEqual(ids(), ["a"]);
});

import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Ledger } from "../../../src/ports.ts";
import {
  mountDisk,
  remountDisk,
  ledgerScratchDirectory,
  startLedger,
  TODAY,
} from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const PAGE_BYTES = 4096;

function appendAll(ledger: Ledger, ids: string[], changes = {}): void {
  for (const id of ids) ledger.append([usageRecord({ id, ...changes })]);
}

/** Starts a ledger on a small disk with this many free pages; `free` deletes the file that fills the others. */
function startOnFullDisk(t: TestContext, freePages: number) {
  const disk = mountDisk(t, 16 * PAGE_BYTES);
  if (disk === null) return null;
  const ballast = join(disk, "ballast");
  writeFileSync(ballast, Buffer.alloc((16 - freePages) * PAGE_BYTES));
  return { ...startLedger(t, { directory: join(disk, "ledger") }), free: () => rmSync(ballast) };
}

test("keeps records in memory while the disk is full, and writes all of them in order when it has space", (t) => {
  const started = startOnFullDisk(t, 0);
  if (started === null) return;
  const { ledger, clock, ids, free } = started;
  appendAll(ledger, ["a", "b", "c"]);
  assert.equal(ledger.health().waiting, 3);
  assert.match(ledger.health().lastError ?? "", /^cannot write \S+\.ndjson: the disk is full$/);
  free();
  clock.advance(1000);
  appendAll(ledger, ["d", "e"]);
  assert.deepEqual(ids(), ["a", "b", "c", "d", "e"]);
  const { written, waiting, lost } = ledger.health();
  assert.deepEqual({ written, waiting, lost }, { written: 5, waiting: 0, lost: 0 });
});

test("of records that come together and do not all fit on the disk, each is written once", (t) => {
  const started = startOnFullDisk(t, 1);
  if (started === null) return;
  const { ledger, clock, ids, read, free } = started;
  appendAll(ledger, ["small"]);
  const records = ["a", "b", "c"].map((id) =>
    usageRecord({ id, raw_usage: { text: "x".repeat(PAGE_BYTES / 2) } }),
  );
  ledger.append(records);
  assert.match(ledger.health().lastError ?? "", /^only 1 of 3 records could be written$/);
  assert.match(read(`${TODAY}.ndjson`), /"id":"a".*\n\{"v":2,"id":"b"[^\n]*$/);
  assert.equal(ledger.health().waiting, 2);
  free();
  clock.advance(1000);
  appendAll(ledger, ["last"]);
  assert.deepEqual(ids(), ["small", "a", "b", "c", "last"]);
});

test("a line that was written in part is written completely later, on a line of its own", (t) => {
  const started = startOnFullDisk(t, 1);
  if (started === null) return;
  const { ledger, clock, ids, read, free } = started;
  appendAll(ledger, ["small"]);
  const before = read(`${TODAY}.ndjson`);
  appendAll(ledger, ["large"], { raw_usage: { text: "x".repeat(2 * PAGE_BYTES) } });
  assert.match(ledger.health().lastError ?? "", /^only 0 of 1 records could be written$/);
  const torn = read(`${TODAY}.ndjson`);
  assert.ok(torn.startsWith(before) && torn.length > before.length);
  appendAll(ledger, ["behind"]);
  assert.equal(read(`${TODAY}.ndjson`), torn, "a later record must not be written first");
  free();
  clock.advance(1000);
  appendAll(ledger, ["last"]);
  assert.deepEqual(ids(), ["small", "large", "behind", "last"]);
});

test("retries at most once a second while the disk is full", (t) => {
  const started = startOnFullDisk(t, 0);
  if (started === null) return;
  const { ledger, clock, ids, free } = started;
  appendAll(ledger, ["a"]);
  free();
  clock.advance(999);
  appendAll(ledger, ["b"]);
  assert.equal(ledger.health().waiting, 2);
  clock.advance(1);
  appendAll(ledger, ["c"]);
  assert.deepEqual(ids(), ["a", "b", "c"]);
});

test("writes pending records immediately when it is closed", (t) => {
  const started = startOnFullDisk(t, 0);
  if (started === null) return;
  const { ledger, ids, free } = started;
  appendAll(ledger, ["a", "b"]);
  free();
  ledger.close();
  assert.deepEqual(ids(), ["a", "b"]);
});

test("logs a disk fault once a minute with the counts of pending and lost records, and logs the recovery once", (t) => {
  const started = startOnFullDisk(t, 0);
  if (started === null) return;
  const { ledger, clock, log, free } = started;
  for (let second = 0; second < 61; second += 1) {
    appendAll(ledger, [`at ${second}`]);
    clock.advance(1000);
  }
  assert.equal(log.lines.length, 2);
  assert.match(
    log.lines[0] ?? "",
    /^error the ledger cannot be written.*the disk is full.*"waiting":1,"lost":0/,
  );
  assert.match(log.lines[1] ?? "", /"waiting":61,"lost":0/);
  free();
  appendAll(ledger, ["well", "again"]);
  assert.deepEqual(log.lines.slice(2), ['info the ledger is written again {"written":62,"lost":0}']);
});

test("keeps the oldest 10,000 records in memory and counts further ones as lost", (t) => {
  const disk = mountDisk(t, 16 * 1024 * 1024);
  if (disk === null) return;
  const { ledger, clock, ids } = startLedger(t, { directory: join(disk, "ledger") });
  remountDisk(disk, "ro");
  const names = Array.from({ length: 10_002 }, (_, index) => String(index));
  appendAll(ledger, names);
  const { waiting, lost } = ledger.health();
  assert.deepEqual({ waiting, lost }, { waiting: 10_000, lost: 2 });
  remountDisk(disk, "rw");
  clock.advance(1000);
  appendAll(ledger, ["next"]);
  assert.deepEqual(ids(), [...names.slice(0, 10_000), "next"]);
});

test("keeps up to 16 MiB of records in memory", (t) => {
  const started = startOnFullDisk(t, 0);
  if (started === null) return;
  const { ledger } = started;
  const raw_usage = { text: "x".repeat(60 * 1024) };
  appendAll(ledger, Array(400).fill("large"), { raw_usage });
  const lineBytes = 61_900;
  const { waiting, lost } = ledger.health();
  assert.equal(waiting + lost, 400);
  assert.ok(
    waiting * lineBytes <= 16 * 1024 * 1024 && (waiting + 5) * lineBytes > 16 * 1024 * 1024,
    String(waiting),
  );
});

test("opens a ledger on a read-only disk and keeps records in memory until it is writable", (t) => {
  const disk = mountDisk(t, 64 * PAGE_BYTES);
  if (disk === null) return;
  const directory = join(disk, "ledger");
  const first = startLedger(t, { directory });
  appendAll(first.ledger, ["before"]);
  first.ledger.close();
  remountDisk(disk, "ro");
  const { ledger, clock, log, ids } = startLedger(t, { directory });
  assert.match(log.lines[0] ?? "", /^error the ledger cannot be written.*the file system is read-only/);
  clock.advance(1000);
  appendAll(ledger, ["during"]);
  assert.equal(ledger.health().waiting, 1);
  remountDisk(disk, "rw");
  clock.advance(1000);
  appendAll(ledger, ["after"]);
  assert.deepEqual(ids(), ["before", "during", "after"]);
});

test("logs how many records could not be written when it is closed", (t) => {
  const scratch = ledgerScratchDirectory(t);
  const directory = join(scratch, "ledger");
  const { ledger, log } = startLedger(t, { directory });
  rmSync(directory, { recursive: true });
  writeFileSync(directory, "a file in its place");
  appendAll(ledger, ["a", "b"]);
  ledger.close();
  assert.match(log.lines.at(-1) ?? "", /^error the ledger was closed with records.*"lost":2/);
});

test("refuses to move to a read-only disk and keeps writing to the old one", (t) => {
  const disk = mountDisk(t, 64 * PAGE_BYTES);
  if (disk === null) return;
  const other = join(disk, "ledger");
  mkdirSync(other, { mode: 0o700 });
  remountDisk(disk, "ro");
  const { ledger, ids } = startLedger(t);
  assert.throws(() => ledger.moveTo({ directory: other, retainDays: 400 }), {
    message: /ledger is not writable: the file system is read-only$/,
    hint: /with: ls -ld .*; or set another directory with: tollkeeper config edit$/,
  });
  appendAll(ledger, ["still here"]);
  assert.deepEqual(ids(), ["still here"]);
});

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readLedger } from "../../../src/adapters/ledger-file.ts";
import { ledgerScratchDirectory, mountDisk, startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { fillDisk } from "../../faults/disk-faults.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

/** Opens a ledger in a directory with these texts in its days' files. */
function openAfter(t: TestContext, texts: Record<string, string>) {
  const directory = join(ledgerScratchDirectory(t), "ledger");
  mkdirSync(directory, { mode: 0o700 });
  for (const [day, text] of Object.entries(texts)) writeFileSync(join(directory, `${day}.ndjson`), text);
  return startLedger(t, { directory });
}

/** Returns the ids of the records that reports see, and how many lines they cannot read. */
async function seen(directory: string): Promise<{ ids: string[]; unreadable: number }> {
  const ids = [];
  let unreadable = 0;
  for await (const entry of readLedger(directory, { from: "" })) {
    if ("unreadable" in entry) unreadable += 1;
    else ids.push(entry.id);
  }
  return { ids, unreadable };
}

const whole = `${JSON.stringify(usageRecord({ id: "whole" }))}\n`;
const TORN = '{"v":2,"id":"to';

test("ends a torn last line with a warning, removes nothing, and writes the next record on a new line", async (t) => {
  const { ledger, directory, log, read } = openAfter(t, { [TODAY]: whole + TORN });
  assert.equal(read(`${TODAY}.ndjson`), `${whole}${TORN}\n`);
  assert.match(log.lines[0] ?? "", /^warn the last line of the ledger was torn.*"bytes":15/);
  ledger.append([usageRecord({ id: "next" })]);
  assert.deepEqual(await seen(directory), { ids: ["whole", "next"], unreadable: 0 });
});

test("ends torn lines of earlier days", async (t) => {
  const { read, directory } = openAfter(t, { "2026-11-19": whole + TORN, "2026-11-20": whole });
  assert.deepEqual([read("2026-11-19.ndjson"), read("2026-11-20.ndjson")], [`${whole}${TORN}\n`, whole]);
  assert.deepEqual(await seen(directory), { ids: ["whole", "whole"], unreadable: 0 });
});

test("a record without its newline counts once the daemon has started", async (t) => {
  const { directory } = openAfter(t, { [TODAY]: whole.trimEnd() });
  assert.deepEqual(await seen(directory), { ids: ["whole"], unreadable: 0 });
});

test("a record that another daemon appends to a torn line is read", async (t) => {
  const { directory } = openAfter(t, { [TODAY]: whole });
  appendFileSync(join(directory, `${TODAY}.ndjson`), TORN + whole);
  assert.deepEqual(await seen(directory), { ids: ["whole", "whole"], unreadable: 0 });
});

test("does not change files with complete lines or empty files", (t) => {
  const { read, log } = openAfter(t, { [TODAY]: whole, "2026-11-20": "" });
  assert.deepEqual([read(`${TODAY}.ndjson`), read("2026-11-20.ndjson")], [whole, ""]);
  assert.deepEqual(log.lines, []);
});

test("ends a tail of 100 MB of zeros in bounded memory", async (t) => {
  const directory = join(ledgerScratchDirectory(t), "ledger");
  mkdirSync(directory, { mode: 0o700 });
  const path = join(directory, `${TODAY}.ndjson`);
  writeFileSync(path, whole);
  truncateSync(path, 100e6);
  const buffers = t.mock.method(Buffer, "alloc");
  const { ledger } = startLedger(t, { directory });
  const largest = Math.max(...buffers.mock.calls.map((call) => call.arguments[0]));
  assert.ok(largest <= 64 * 1024, `${largest} bytes`);
  assert.equal(statSync(path).size, 100e6 + 1);
  ledger.append([usageRecord({ id: "next" })]);
  assert.deepEqual((await seen(directory)).ids, ["whole", "next"]);
});

test("a torn line that the disk has no space to end stays as it is, and is ended once it has", async (t) => {
  const disk = mountDisk(t, 64 * 4096);
  if (disk === null) return;
  const [directory, ballast] = [join(disk, "ledger"), join(disk, "ballast")];
  mkdirSync(directory, { mode: 0o700 });
  // Whole pages: one more byte needs one more page.
  const text = whole + TORN.padEnd(20 * 4096 - whole.length, "x");
  writeFileSync(join(directory, `${TODAY}.ndjson`), text);
  fillDisk(ballast);
  const { ledger, clock, read } = startLedger(t, { directory });
  ledger.append([usageRecord({ id: "waiting" })]);
  assert.match(ledger.health().lastError ?? "", /the disk is full$/);
  assert.equal(read(`${TODAY}.ndjson`), text);
  rmSync(ballast);
  clock.advance(1000);
  ledger.append([usageRecord({ id: "next" })]);
  assert.deepEqual(await seen(directory), { ids: ["whole", "waiting", "next"], unreadable: 0 });
});

test("the torn lines of several crashes are in no sum, and no later record is lost to them", async (t) => {
  const { directory } = openAfter(t, { [TODAY]: TORN });
  appendFileSync(join(directory, `${TODAY}.ndjson`), `${whole}{"v":2`);
  startLedger(t, { directory }).ledger.append([usageRecord({ id: "next" })]);
  assert.deepEqual(await seen(directory), { ids: ["whole", "next"], unreadable: 0 });
});

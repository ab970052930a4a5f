import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ledgerScratchDirectory, mountDisk, startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

/** Opens a ledger in a directory with these texts in its days' files. */
function openAfter(t: TestContext, texts: Record<string, string>) {
  const directory = join(ledgerScratchDirectory(t), "ledger");
  mkdirSync(directory, { mode: 0o700 });
  for (const [day, text] of Object.entries(texts)) writeFileSync(join(directory, `${day}.ndjson`), text);
  return startLedger(t, { directory });
}

const whole = `${JSON.stringify(usageRecord({ id: "whole" }))}\n`;

test("moves a truncated last line away with a warning, and writes the next record on a new line", (t) => {
  const { ledger, directory, log, read, ids } = openAfter(t, { [TODAY]: `${whole}{"v":1,"id":"to` });
  assert.equal(read(`${TODAY}.torn`), '{"v":1,"id":"to\n');
  assert.equal(statSync(join(directory, `${TODAY}.torn`)).mode & 0o777, 0o600);
  assert.match(log.lines[0] ?? "", /^warn a truncated last line of the ledger was set aside .*"bytes":15/);
  ledger.append([usageRecord({ id: "next" })]);
  assert.deepEqual(ids(), ["whole", "next"]);
});

test("moves truncated lines of earlier days away", (t) => {
  const { read, ids } = openAfter(t, { "2026-11-19": `${whole}torn`, "2026-11-20": whole });
  assert.deepEqual(ids("2026-11-19"), ["whole"]);
  assert.equal(read("2026-11-19.torn"), "torn\n");
});

test("does not change files with complete lines or empty files", (t) => {
  const { directory, log, ids } = openAfter(t, { [TODAY]: whole, "2026-11-20": "" });
  assert.deepEqual(ids(), ["whole"]);
  assert.deepEqual(log.lines, []);
  assert.equal(existsSync(join(directory, `${TODAY}.torn`)), false);
});

for (const bytes of [65_535, 65_536, 65_537, 200_000]) {
  test(`moves a truncated line of ${bytes} bytes away completely`, (t) => {
    const { read } = openAfter(t, { [TODAY]: whole + "x".repeat(bytes), "2026-11-20": "y".repeat(bytes) });
    assert.equal(read(`${TODAY}.ndjson`), whole);
    assert.equal(read(`${TODAY}.torn`), `${"x".repeat(bytes)}\n`);
    assert.equal(read("2026-11-20.ndjson"), "");
  });
}

test("moves a tail of 100 MB away in bounded memory", (t) => {
  const directory = join(ledgerScratchDirectory(t), "ledger");
  mkdirSync(directory, { mode: 0o700 });
  const path = join(directory, `${TODAY}.ndjson`);
  writeFileSync(path, whole);
  truncateSync(path, 100e6);
  const buffers = t.mock.method(Buffer, "alloc");
  const { ids } = startLedger(t, { directory });
  const largest = Math.max(...buffers.mock.calls.map((call) => call.arguments[0]));
  assert.ok(largest <= 64 * 1024, `${largest} bytes`);
  assert.deepEqual(ids(), ["whole"]);
  assert.equal(statSync(join(directory, `${TODAY}.torn`)).size, 100e6 - whole.length + 1);
});

test("a tail that the disk has no space for stays where it is, and is moved once it has", (t) => {
  const disk = mountDisk(t, 64 * 4096);
  if (disk === null) return;
  const [directory, ballast] = [join(disk, "ledger"), join(disk, "ballast")];
  mkdirSync(directory, { mode: 0o700 });
  const text = whole + "x".repeat(20 * 4096);
  writeFileSync(join(directory, `${TODAY}.ndjson`), text);
  writeFileSync(ballast, Buffer.alloc(30 * 4096));
  const { ledger, clock, ids, read } = startLedger(t, { directory });
  ledger.append([usageRecord({ id: "waiting" })]);
  assert.match(ledger.health().lastError ?? "", /ENOSPC/);
  assert.deepEqual([read(`${TODAY}.ndjson`), read(`${TODAY}.torn`)], [text, ""]);
  rmSync(ballast);
  clock.advance(1000);
  ledger.append([usageRecord({ id: "next" })]);
  assert.deepEqual(ids(), ["whole", "waiting", "next"]);
  assert.equal(read(`${TODAY}.torn`), `${"x".repeat(20 * 4096)}\n`);
});

test("keeps the truncated lines of several crashes, one per line", (t) => {
  const { directory, read } = openAfter(t, { [TODAY]: "first" });
  writeFileSync(join(directory, `${TODAY}.ndjson`), `${whole}second`);
  startLedger(t, { directory });
  assert.equal(read(`${TODAY}.torn`), "first\nsecond\n");
});

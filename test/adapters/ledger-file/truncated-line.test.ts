import assert from "node:assert/strict";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ledgerScratchDirectory, startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
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
  assert.match(log.lines[0] ?? "", /^warn a torn last line of the ledger was set aside .*"bytes":15/);
  ledger.append(usageRecord({ id: "next" }));
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

test("keeps the truncated lines of several crashes, one per line", (t) => {
  const { directory, read } = openAfter(t, { [TODAY]: "first" });
  writeFileSync(join(directory, `${TODAY}.ndjson`), `${whole}second`);
  startLedger(t, { directory });
  assert.equal(read(`${TODAY}.torn`), "first\nsecond\n");
});

import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

/** Starts a ledger and writes the record `first`; the clock is then one second later. */
function startWithOne(t: TestContext) {
  const started = startLedger(t);
  started.ledger.append([usageRecord({ id: "first" })]);
  started.clock.advance(1000);
  return { ...started, file: join(started.directory, `${TODAY}.ndjson`) };
}

test("creates a file again that was deleted", (t) => {
  const { ledger, file, ids } = startWithOne(t);
  rmSync(file);
  ledger.append([usageRecord({ id: "second" })]);
  assert.deepEqual(ids(), ["second"]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("writes no further record to a file that was renamed", (t) => {
  const { ledger, file, ids } = startWithOne(t);
  renameSync(file, `${file}.moved`);
  ledger.append([usageRecord({ id: "second" })]);
  assert.deepEqual(ids(), ["second"]);
  assert.match(readFileSync(`${file}.moved`, "utf8"), /"id":"first".*\n$/);
});

test("appends to a file that replaced the open one", (t) => {
  const { ledger, file, ids } = startWithOne(t);
  rmSync(file);
  writeFileSync(file, `${JSON.stringify(usageRecord({ id: "other" }))}\n`);
  ledger.append([usageRecord({ id: "second" })]);
  assert.deepEqual(ids(), ["other", "second"]);
});

test("creates a deleted directory again, for its owner only", (t) => {
  const { ledger, directory, ids } = startWithOne(t);
  rmSync(directory, { recursive: true });
  ledger.append([usageRecord({ id: "second" })]);
  assert.deepEqual(ids(), ["second"]);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(ledger.health().waiting, 0);
});

test("checks once a second whether the file was renamed, and writes to the renamed file until then", (t) => {
  const { ledger, clock, file, ids } = startWithOne(t);
  ledger.append([usageRecord({ id: "second" })]);
  renameSync(file, `${file}.moved`);
  clock.advance(999);
  ledger.append([usageRecord({ id: "into the renamed file" })]);
  clock.advance(1);
  ledger.append([usageRecord({ id: "third" })]);
  assert.deepEqual(ids(), ["third"]);
  assert.match(readFileSync(`${file}.moved`, "utf8"), /"id":"into the renamed file".*\n$/);
});

for (const [what, remove] of [
  ["deleted", (file: string) => rmSync(file)],
  ["overwritten by another", (file: string) => renameSync(`${file}.other`, file)],
] as const) {
  test(`loses no record when the file is ${what}, even between the checks`, (t) => {
    const { ledger, file, ids } = startWithOne(t);
    ledger.append([usageRecord({ id: "second" })]);
    writeFileSync(`${file}.other`, "");
    remove(file);
    ledger.append([usageRecord({ id: "third" })]);
    ledger.append([usageRecord({ id: "fourth" })]);
    assert.deepEqual(ids(), ["third", "fourth"]);
    assert.equal(ledger.health().waiting, 0);
  });
}

test("writes a record that is appended after close", (t) => {
  const { ledger, ids } = startWithOne(t);
  ledger.close();
  ledger.append([usageRecord({ id: "late" })]);
  assert.deepEqual(ids(), ["first", "late"]);
});

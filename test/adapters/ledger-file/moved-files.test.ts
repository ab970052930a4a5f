import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

/** A ledger with one record, `first`, a second after that was written. */
function startWithOne(t: TestContext) {
  const started = startLedger(t);
  started.ledger.append(usageRecord({ id: "first" }));
  started.clock.advance(1000);
  return { ...started, file: join(started.directory, `${TODAY}.ndjson`) };
}

test("a deleted file is noticed and made again", (t) => {
  const { ledger, file, ids } = startWithOne(t);
  rmSync(file);
  ledger.append(usageRecord({ id: "second" }));
  assert.deepEqual(ids(), ["second"]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a renamed file is let go: it gets no further record", (t) => {
  const { ledger, file, ids } = startWithOne(t);
  renameSync(file, `${file}.moved`);
  ledger.append(usageRecord({ id: "second" }));
  assert.deepEqual(ids(), ["second"]);
  assert.match(readFileSync(`${file}.moved`, "utf8"), /"id":"first".*\n$/);
});

test("a replaced file is continued", (t) => {
  const { ledger, file, ids } = startWithOne(t);
  rmSync(file);
  writeFileSync(file, `${JSON.stringify(usageRecord({ id: "other" }))}\n`);
  ledger.append(usageRecord({ id: "second" }));
  assert.deepEqual(ids(), ["other", "second"]);
});

test("a deleted directory is made again, for its owner alone", (t) => {
  const { ledger, directory, ids } = startWithOne(t);
  rmSync(directory, { recursive: true });
  ledger.append(usageRecord({ id: "second" }));
  assert.deepEqual(ids(), ["second"]);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(ledger.health().waiting, 0);
});

test("the name is looked at once a second, not for every record: until then a renamed file keeps what it gets", (t) => {
  const { ledger, clock, file, ids } = startWithOne(t);
  ledger.append(usageRecord({ id: "second" }));
  renameSync(file, `${file}.moved`);
  clock.advance(999);
  ledger.append(usageRecord({ id: "into the renamed file" }));
  clock.advance(1);
  ledger.append(usageRecord({ id: "third" }));
  assert.deepEqual(ids(), ["third"]);
  assert.match(readFileSync(`${file}.moved`, "utf8"), /"id":"into the renamed file".*\n$/);
});

for (const [what, remove] of [
  ["deleted", (file: string) => rmSync(file)],
  ["overwritten by another", (file: string) => renameSync(`${file}.other`, file)],
] as const) {
  test(`a file that is ${what} loses no record, not even within that second`, (t) => {
    const { ledger, file, ids } = startWithOne(t);
    ledger.append(usageRecord({ id: "second" }));
    writeFileSync(`${file}.other`, "");
    remove(file);
    ledger.append(usageRecord({ id: "third" }));
    ledger.append(usageRecord({ id: "fourth" }));
    assert.deepEqual(ids(), ["third", "fourth"]);
    assert.equal(ledger.health().waiting, 0);
  });
}

test("a record that comes after close is written all the same", (t) => {
  const { ledger, ids } = startWithOne(t);
  ledger.close();
  ledger.append(usageRecord({ id: "late" }));
  assert.deepEqual(ids(), ["first", "late"]);
});

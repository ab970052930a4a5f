import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startLedger, TODAY } from "../helpers/ledger.ts";
import { usageRecord } from "../helpers/usage-record.ts";

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

test("the place is looked at once a second, not for every record", (t) => {
  const { ledger, clock, file, ids } = startWithOne(t);
  ledger.append(usageRecord({ id: "second" }));
  rmSync(file);
  clock.advance(999);
  ledger.append(usageRecord({ id: "into the deleted file" }));
  clock.advance(1);
  ledger.append(usageRecord({ id: "third" }));
  assert.deepEqual(ids(), ["third"]);
});

test("a record that comes after close is written all the same", (t) => {
  const { ledger, ids } = startWithOne(t);
  ledger.close();
  ledger.append(usageRecord({ id: "late" }));
  assert.deepEqual(ids(), ["first", "late"]);
});

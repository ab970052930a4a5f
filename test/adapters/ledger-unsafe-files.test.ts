import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Failure } from "../../src/core/failure.ts";
import { scratchDirectory, startLedger, TODAY } from "../helpers/ledger.ts";
import { usageRecord } from "../helpers/usage-record.ts";

/** Opening a ledger in `directory` must fail, saying so and with a hint. */
function assertRefused(t: TestContext, directory: string, message: RegExp, hint: RegExp): void {
  assert.throws(
    () => startLedger(t, { directory }),
    (error) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, message);
      assert.match(error.hint ?? "", hint);
      return true;
    },
  );
}

function makeDirectory(t: TestContext, mode = 0o700): string {
  const directory = join(scratchDirectory(t), "ledger");
  fs.mkdirSync(directory);
  fs.chmodSync(directory, mode);
  return directory;
}

test("a directory that others may write to is refused and left as it is", (t) => {
  const directory = makeDirectory(t, 0o777);
  assertRefused(t, directory, /can be written by other users/, /^chmod 700 /);
  assert.equal(fs.statSync(directory).mode & 0o777, 0o777);
});

test("a symbolic link in the directory's place is refused", (t) => {
  const directory = makeDirectory(t);
  fs.symlinkSync(directory, `${directory}-link`);
  assertRefused(t, `${directory}-link`, /is a symbolic link/, /config edit/);
});

test("a directory that cannot be made is a failure with a hint", (t) => {
  const directory = makeDirectory(t);
  fs.writeFileSync(join(directory, "file"), "");
  assertRefused(
    t,
    join(directory, "file", "ledger"),
    /^cannot make the ledger directory .*ENOTDIR/,
    /another/,
  );
});

test("a file in the directory's place is refused", (t) => {
  const directory = makeDirectory(t);
  fs.writeFileSync(join(directory, "file"), "");
  assertRefused(t, join(directory, "file"), /^cannot make the ledger directory .*EEXIST/, /another/);
});

test("a planted symbolic link in a day's place is refused, and its target untouched", (t) => {
  const directory = makeDirectory(t);
  const target = join(directory, "target");
  fs.writeFileSync(target, "no newline", { mode: 0o644 });
  fs.symlinkSync(target, join(directory, `${TODAY}.ndjson`));
  assertRefused(t, directory, /2026-11-21\.ndjson is a symbolic link/, /^rm '/);
  assert.equal(fs.readFileSync(target, "utf8"), "no newline");
  assert.equal(fs.statSync(target).mode & 0o777, 0o644);
});

test("a directory in a day's place is refused", (t) => {
  const directory = makeDirectory(t);
  fs.mkdirSync(join(directory, `${TODAY}.ndjson`));
  assertRefused(t, directory, /is not a regular file/, /^mv '/);
});

test("files and directories of another user are refused, and not taken over", (t) => {
  if (process.geteuid?.() !== 0) {
    t.skip("needs root, to give a file to another user");
    return;
  }
  const directory = makeDirectory(t);
  const file = join(directory, `${TODAY}.ndjson`);
  fs.writeFileSync(file, "");
  fs.chmodSync(file, 0o666);
  fs.chownSync(file, 65_534, 65_534);
  assertRefused(t, directory, /belongs to another user \(uid 65534\)/, /chown 0 /);
  assert.equal(fs.statSync(file).mode & 0o777, 0o666);
  fs.rmSync(file);
  fs.chownSync(directory, 65_534, 65_534);
  assertRefused(t, directory, /belongs to another user \(uid 65534\)/, /chown 0 /);
});

test("a link planted while the daemon runs makes records wait, and is said with its remedy", (t) => {
  const { ledger, directory, clock, log, ids } = startLedger(t);
  const file = join(directory, `${TODAY}.ndjson`);
  fs.symlinkSync("/dev/null", file);
  const [first, second] = [usageRecord(), usageRecord()];
  ledger.append(first);
  assert.equal(ledger.health().waiting, 1);
  assert.match(ledger.health().lastError ?? "", /is a symbolic link/);
  assert.match(log.lines.at(-1) ?? "", /^error .*records wait in memory.*"hint":"rm '/);
  fs.rmSync(file);
  clock.advance(1000);
  ledger.append(second);
  assert.deepEqual(ids(), [first.id, second.id]);
});

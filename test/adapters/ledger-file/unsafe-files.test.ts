import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import { ledgerScratchDirectory, startLedger } from "../../helpers/ledger/ledger.ts";

/** Fails unless opening a ledger in `directory` throws this message and hint. */
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
  const directory = join(ledgerScratchDirectory(t), "ledger");
  fs.mkdirSync(directory);
  fs.chmodSync(directory, mode);
  return directory;
}

test("refuses a directory that others can write and does not change it", (t) => {
  const directory = makeDirectory(t, 0o777);
  assertRefused(t, directory, /can be written by other users/, /^chmod 700 /);
  assert.equal(fs.statSync(directory).mode & 0o777, 0o777);
});

test("refuses a symbolic link as the directory", (t) => {
  const directory = makeDirectory(t);
  fs.symlinkSync(directory, `${directory}-link`);
  assertRefused(t, `${directory}-link`, /is a symbolic link/, /config edit/);
});

test("throws a Failure with a hint when the directory cannot be created", (t) => {
  const directory = makeDirectory(t);
  fs.writeFileSync(join(directory, "file"), "");
  assertRefused(
    t,
    join(directory, "file", "ledger"),
    /^cannot create the ledger directory .*: a part of its path is not a directory$/,
    /another/,
  );
});

test("refuses a file as the directory", (t) => {
  const directory = makeDirectory(t);
  fs.writeFileSync(join(directory, "file"), "");
  assertRefused(
    t,
    join(directory, "file"),
    /^cannot create the ledger directory .*: a file is in its place$/,
    /another/,
  );
});

test("refuses a directory of another user", (t) => {
  if (process.geteuid?.() !== 0) {
    t.skip("needs root, to give a directory to another user");
    return;
  }
  const directory = makeDirectory(t);
  fs.chownSync(directory, 65_534, 65_534);
  assertRefused(
    t,
    directory,
    /belongs to another user \(uid 65534\)/,
    /^look at what its owner wrote, then move it away with: mv /,
  );
});

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import { scratchDirectory, startLedger } from "../../helpers/ledger/ledger.ts";

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

test("a directory of another user is refused", (t) => {
  if (process.geteuid?.() !== 0) {
    t.skip("needs root, to give a directory to another user");
    return;
  }
  const directory = makeDirectory(t);
  fs.chownSync(directory, 65_534, 65_534);
  assertRefused(t, directory, /belongs to another user \(uid 65534\)/, /chown 0 /);
});

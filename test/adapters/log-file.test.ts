import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { LogFile } from "../../src/adapters/log/log-file.ts";
import { scratchDirectory } from "../helpers/keyring.ts";

const line = (text: string) => Buffer.from(`${text}\n`);

test("the file and its directory are made, for their owner alone, and what is there is kept", (t) => {
  const path = join(scratchDirectory(t), "logs", "tollkeeper.log");
  new LogFile(path).write(line("one"));
  new LogFile(path).write(line("two"));
  assert.equal(readFileSync(path, "utf8"), "one\ntwo\n");
  assert.deepEqual([statSync(path).mode & 0o777, statSync(join(path, "..")).mode & 0o777], [0o600, 0o700]);
});

test("a full file becomes FILE.1, in the place of the one before", (t) => {
  const path = join(scratchDirectory(t), "log");
  const file = new LogFile(path, 10);
  for (const text of ["12345", "6789", "abcd", "efgh", "ijkl"]) file.write(line(text));
  assert.deepEqual(
    [readFileSync(path, "utf8"), readFileSync(`${path}.1`, "utf8"), existsSync(`${path}.2`)],
    ["efgh\nijkl\n", "6789\nabcd\n", false],
  );
});

test("what a file had before it was opened counts", (t) => {
  const path = join(scratchDirectory(t), "log");
  writeFileSync(path, "from before\n");
  new LogFile(path, 15).write(line("new"));
  assert.deepEqual(
    [readFileSync(path, "utf8"), readFileSync(`${path}.1`, "utf8")],
    ["new\n", "from before\n"],
  );
});

test("a line longer than a file may be is written whole all the same", (t) => {
  const path = join(scratchDirectory(t), "log");
  new LogFile(path, 4).write(line("123456"));
  assert.deepEqual([readFileSync(path, "utf8"), existsSync(`${path}.1`)], ["123456\n", false]);
});

test("a file that was moved away is written to until it is opened anew", (t) => {
  const path = join(scratchDirectory(t), "log");
  const file = new LogFile(path);
  file.write(line("one"));
  renameSync(path, `${path}.old`);
  file.write(line("two"));
  file.reopen();
  file.write(line("three"));
  assert.deepEqual(
    [readFileSync(`${path}.old`, "utf8"), readFileSync(path, "utf8")],
    ["one\ntwo\n", "three\n"],
  );
});

test("a link in its place is not followed, and what to look at is said", (t) => {
  const directory = scratchDirectory(t);
  const path = join(directory, "log");
  symlinkSync(join(directory, "target"), path);
  assert.throws(() => new LogFile(path), /cannot write the log: ELOOP/);
  assert.equal(existsSync(join(directory, "target")), false);
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { LogFile } from "../../../src/adapters/log/log-file.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const line = (text: string) => Buffer.from(`${text}\n`);

test("creates the file and its directory for their owner only, and appends to an existing file", (t) => {
  const path = join(scratchDirectory(t), "logs", "tollkeeper.log");
  new LogFile(path).write(line("one"));
  new LogFile(path).write(line("two"));
  assert.equal(readFileSync(path, "utf8"), "one\ntwo\n");
  assert.deepEqual([statSync(path).mode & 0o777, statSync(join(path, "..")).mode & 0o777], [0o600, 0o700]);
});

test("renames a full file to FILE.1 and replaces the previous one", (t) => {
  const path = join(scratchDirectory(t), "log");
  const file = new LogFile(path, 10);
  for (const text of ["12345", "6789", "abcd", "efgh", "ijkl"]) file.write(line(text));
  assert.deepEqual(
    [readFileSync(path, "utf8"), readFileSync(`${path}.1`, "utf8"), existsSync(`${path}.2`)],
    ["efgh\nijkl\n", "6789\nabcd\n", false],
  );
});

test("counts the existing content of a file towards its limit", (t) => {
  const path = join(scratchDirectory(t), "log");
  writeFileSync(path, "from before\n");
  new LogFile(path, 15).write(line("new"));
  assert.deepEqual(
    [readFileSync(path, "utf8"), readFileSync(`${path}.1`, "utf8")],
    ["new\n", "from before\n"],
  );
});

test("writes a line that is longer than the limit in one piece", (t) => {
  const path = join(scratchDirectory(t), "log");
  new LogFile(path, 4).write(line("123456"));
  assert.deepEqual([readFileSync(path, "utf8"), existsSync(`${path}.1`)], ["123456\n", false]);
});

test("writes to a file that was moved away until it is reopened", (t) => {
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

test("refuses a symbolic link, with a command that shows it", (t) => {
  const directory = scratchDirectory(t);
  const path = join(directory, "a log");
  symlinkSync(join(directory, "target"), path);
  assert.throws(() => new LogFile(path), {
    message: /cannot write the log: cannot open .*: its symbolic links lead in a circle/,
    hint: `inspect it with: ls -ld ${directory} '${path}'`,
  });
  assert.equal(existsSync(join(directory, "target")), false);
});

test("creates a file that was deleted, or moved away and not reopened, again when it reaches the limit", (t) => {
  const path = join(scratchDirectory(t), "logs", "log");
  const file = new LogFile(path, 10);
  file.write(line("1234567"));
  rmSync(path);
  file.write(line("lost"));
  file.write(line("here"));
  assert.equal(readFileSync(path, "utf8"), "lost\nhere\n");
  rmSync(join(path, ".."), { recursive: true });
  file.reopen();
  file.write(line("and here"));
  assert.equal(readFileSync(path, "utf8"), "and here\n");
});

test("keeps writing to a full file that cannot be renamed", (t) => {
  const path = join(scratchDirectory(t), "log");
  mkdirSync(`${path}.1/full`, { recursive: true });
  const file = new LogFile(path, 10);
  for (const text of ["123456789", "987654321"]) file.write(line(text));
  assert.equal(readFileSync(path, "utf8"), "123456789\n987654321\n");
});

test("removes other users' access to an existing log file", (t) => {
  const path = join(scratchDirectory(t), "log");
  writeFileSync(path, "");
  chmodSync(path, 0o666);
  new LogFile(path).write(line("one"));
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("refuses a device, a directory and a pipe, without blocking on the pipe", (t) => {
  const directory = scratchDirectory(t);
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const path of ["/dev/null", directory, pipe]) {
    assert.throws(() => new LogFile(path), /cannot write the log: /, path);
  }
});

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { putInPlace, replaceFile, replaceFileSlowly } from "../src/replace-file.ts";
import { scratchDirectory } from "./helpers/process/scratch-directory.ts";

const WAYS = {
  "at once": (path: string) => replaceFile(path, "new"),
  slowly: (path: string) => replaceFileSlowly(path, "new", `${path}.unfinished`),
};

for (const [way, replace] of Object.entries(WAYS)) {
  test(`a file that is replaced ${way} has the new contents and mode 0600, and nothing is left beside it`, async (t) => {
    const directory = scratchDirectory(t);
    const path = join(directory, "file");
    fs.writeFileSync(path, "old and longer", { mode: 0o644 });
    await replace(path);
    assert.deepEqual([fs.readFileSync(path, "utf8"), fs.statSync(path).mode & 0o777], ["new", 0o600]);
    assert.deepEqual(fs.readdirSync(directory), ["file"]);
  });

  test(`a file that cannot be replaced ${way} stays, the error names it, and nothing is left beside it`, async (t) => {
    const directory = scratchDirectory(t);
    const path = join(directory, "file");
    // Nothing can be renamed over a directory that is not empty.
    fs.mkdirSync(path);
    fs.writeFileSync(join(path, "inside"), "");
    await assert.rejects(async () => replace(path), { path });
    assert.deepEqual(fs.readdirSync(directory), ["file"]);
  });
}

test("the file is flushed before it gets its name, and the directory after that", (t) => {
  const path = join(scratchDirectory(t), "file");
  const done: string[] = [];
  const flush = fs.fsyncSync;
  t.mock.method(fs, "fsyncSync", (fd: number) => {
    done.push(
      fs.fstatSync(fd).isDirectory() ? "directory" : `file, ${fs.existsSync(path) ? "in place" : "aside"}`,
    );
    flush(fd);
  });
  replaceFile(path, "new");
  assert.deepEqual(done, ["file, aside", "directory"]);
  done.length = 0;
  fs.writeFileSync(`${path}.2`, "newer");
  putInPlace(`${path}.2`, path);
  assert.deepEqual(done, ["directory"]);
});

test("the mode is the one that was asked for, whatever the umask", (t) => {
  const path = join(scratchDirectory(t), "file");
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  replaceFile(path, "new", { mode: 0o644 });
  assert.equal(fs.statSync(path).mode & 0o777, 0o644);
});

test("a link that lies where the new file is written first is removed, not followed", (t) => {
  const directory = scratchDirectory(t);
  const [path, other] = [join(directory, "file"), join(directory, "other")];
  fs.writeFileSync(other, "other");
  fs.symlinkSync(other, `${path}.${process.pid}.new`);
  replaceFile(path, "new");
  assert.deepEqual([fs.readFileSync(path, "utf8"), fs.readFileSync(other, "utf8")], ["new", "other"]);
});

test("what a check throws aborts the replacement", (t) => {
  const directory = scratchDirectory(t);
  const path = join(directory, "file");
  fs.writeFileSync(path, "old");
  const why = new Error("changed meanwhile");
  const check = () => {
    throw why;
  };
  assert.throws(() => replaceFile(path, "new", { check }), why);
  assert.deepEqual([fs.readFileSync(path, "utf8"), fs.readdirSync(directory)], ["old", ["file"]]);
});

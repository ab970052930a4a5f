import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DotfileLocation } from "../../../src/cli/dotfiles/locations.ts";
import { readDotfiles } from "../../../src/cli/dotfiles/read.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const locate = (path: string): DotfileLocation => ({ kind: "shell", path });

test("a file and a link to a file are read, and paths that do not exist are left out", async (t) => {
  const directory = scratchDirectory(t);
  const [file, link] = [join(directory, "file"), join(directory, "link")];
  writeFileSync(file, "text\n");
  symlinkSync(file, link);
  assert.deepEqual(
    await readDotfiles([file, link, join(directory, "none"), join(file, "none")].map(locate)),
    [
      { kind: "shell", path: file, text: "text\n", problem: null },
      { kind: "shell", path: link, text: "text\n", problem: null },
    ],
  );
});

test("a pipe, a device, a directory and a loop of links are reported without being read", async (t) => {
  const directory = scratchDirectory(t);
  const [pipe, loop] = [join(directory, "pipe"), join(directory, "loop")];
  execFileSync("mkfifo", [pipe]);
  symlinkSync(loop, loop);
  const read = await readDotfiles([pipe, "/dev/zero", directory, loop].map(locate));
  assert.deepEqual(
    read.map(({ text, problem }) => [text, problem]),
    [
      ["", "it is not a regular file"],
      ["", "it is not a regular file"],
      ["", "it is not a regular file"],
      ["", "cannot be read: its symbolic links lead in a circle, or links are refused there"],
    ],
  );
});

test("only the beginning of a gigabyte file is read, and the result says so", async (t) => {
  const path = join(scratchDirectory(t), "large");
  writeFileSync(path, "first\n");
  truncateSync(path, 1 << 30);
  const [dotfile] = await readDotfiles([locate(path)]);
  assert.equal(dotfile?.text.length, 8 * 1024 * 1024);
  assert.equal(dotfile?.problem, "only its first 8388608 bytes were searched");
});

test("a location with an extension yields the files of that extension, sorted by name", async (t) => {
  const directory = scratchDirectory(t);
  for (const name of ["b.conf", "a.conf", "c.txt"]) writeFileSync(join(directory, name), name);
  const read = await readDotfiles([{ kind: "shell", path: directory, extension: ".conf" }]);
  assert.deepEqual(
    read.map(({ text }) => text),
    ["a.conf", "b.conf"],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import {
  readCommandLine,
  readWords,
  writeArgument,
  writeProgram,
  writeWord,
} from "../../../src/service/systemd/exec-quoting.ts";

/** Paths that people have, and paths that nobody should have. */
const PATHS = [
  "/usr/bin/node",
  "/home/ann lee/node",
  "/home/100%/x",
  "/home/%h/%%t",
  "/home/$HOME/${USER}/$$",
  "/home/zoë/日本/😀",
  "/home/a;b#c&d|e>f*g?",
  "/home/ ends with a space ",
  '/home/"quoted" it\'s/x',
  "/home/back\\slash\\",
];

test("a path without anything special is written as it is", () => {
  assert.equal(writeWord("/usr/lib/node-20.1/bin/node"), "/usr/lib/node-20.1/bin/node");
});

test("spaces, quotes, backslashes and specifiers are quoted as systemd reads them", () => {
  assert.equal(writeWord("/a b/100%/c"), '"/a b/100%%/c"');
  assert.equal(writeWord('/a"b\\c'), '"/a\\"b\\\\c"');
});

test("a dollar sign is doubled in an argument, and only there", () => {
  assert.equal(writeProgram("/a$b"), '"/a$b"');
  assert.equal(writeArgument("/a$b"), '"/a$$b"');
});

test("every path comes back from what was written, alone and in a command line", () => {
  for (const path of PATHS) {
    assert.deepEqual(readWords(writeWord(path)), [path]);
    const line = ["/usr/bin/node", writeArgument(path), "serve", writeArgument(path)].join(" ");
    assert.deepEqual(readCommandLine(line), ["/usr/bin/node", path, "serve", path]);
  }
});

test("a path with a control character is refused: a line break would begin a setting of its own", () => {
  for (const path of ["/a\nExecStartPre=/bin/sh", "/a\tb", "/a\u007f"]) {
    assert.throws(() => writeWord(path), Failure);
    assert.throws(() => writeArgument(path), Failure);
  }
});

test("a program with quotes or a backslash in its path is refused, as systemd itself does", () => {
  for (const path of ['/a"b', "/it's", "/a\\b"]) assert.throws(() => writeProgram(path), Failure);
});

test("words that people have written by hand are read, too", () => {
  const words = readWords(`  plain 'single "x"' "a b"  mixed"c d" \\;`);
  assert.deepEqual(words, ["plain", 'single "x"', "a b", "mixedc d", ";"]);
  const command = readCommandLine("-:/usr/bin/env tollkeeper serve");
  assert.deepEqual(command, ["/usr/bin/env", "tollkeeper", "serve"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import {
  parseCommandLine,
  splitWords,
  quoteArgument,
  quoteExecutable,
  quoteWord,
} from "../../../src/service/systemd/unit-syntax.ts";

/** Paths as they occur, and paths as they should not. */
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

test("quoteWord leaves a path without special characters unchanged", () => {
  assert.equal(quoteWord("/usr/lib/node-20.1/bin/node"), "/usr/lib/node-20.1/bin/node");
});

test("quoteWord quotes spaces, quotes, backslashes and specifiers as systemd parses them", () => {
  assert.equal(quoteWord("/a b/100%/c"), '"/a b/100%%/c"');
  assert.equal(quoteWord('/a"b\\c'), '"/a\\"b\\\\c"');
});

test("quoteArgument doubles dollar signs, and quoteExecutable does not", () => {
  assert.equal(quoteExecutable("/a$b"), '"/a$b"');
  assert.equal(quoteArgument("/a$b"), '"/a$$b"');
});

test("every quoted path parses back to itself, alone and in a command line", () => {
  for (const path of PATHS) {
    assert.deepEqual(splitWords(quoteWord(path)), [path]);
    const line = ["/usr/bin/node", quoteArgument(path), "serve", quoteArgument(path)].join(" ");
    assert.deepEqual(parseCommandLine(line), ["/usr/bin/node", path, "serve", path]);
  }
});

test("a path with a control character is refused, because a line break would begin another setting", () => {
  for (const path of ["/a\nExecStartPre=/bin/sh", "/a\tb", "/a\u007f"]) {
    assert.throws(() => quoteWord(path), Failure);
    assert.throws(() => quoteArgument(path), Failure);
  }
});

test("quoteExecutable refuses quotes and backslashes, as systemd does", () => {
  for (const path of ['/a"b', "/it's", "/a\\b"]) assert.throws(() => quoteExecutable(path), Failure);
});

test("splitWords and parseCommandLine accept manually written quoting and prefixes", () => {
  const words = splitWords(`  plain 'single "x"' "a b"  mixed"c d" \\;`);
  assert.deepEqual(words, ["plain", 'single "x"', "a b", "mixedc d", ";"]);
  const command = parseCommandLine("-:/usr/bin/env tollkeeper serve");
  assert.deepEqual(command, ["/usr/bin/env", "tollkeeper", "serve"]);
});

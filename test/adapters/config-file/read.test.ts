import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { readConfigFile } from "../../../src/adapters/config-file.ts";
import { formatProblem } from "../../../src/core/config/problem.ts";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { withPort } from "../../helpers/config/config-file.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** Reads a file with this text and returns its problems as `F:LINE: path: message`. */
async function problemsOf(t: TestContext, text: string): Promise<string[]> {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, text);
  return problemsAt(path);
}

async function problemsAt(path: string): Promise<string[]> {
  const reading = await readConfigFile(path);
  return reading.ok ? [] : reading.problems.map((problem) => formatProblem("F", problem));
}

test("returns the defaults for a missing file, marked as missing", async (t) => {
  const reading = await readConfigFile(join(scratchDirectory(t), "config.jsonc"));
  assert.deepEqual(reading, {
    ok: true,
    config: defaultConfig,
    exists: false,
    managed: null,
    warnings: [],
    overruled: [],
  });
});

test("accepts comments, trailing commas and a byte order mark", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, '\uFEFF// first\n{ /* port */ "listen": { "port": 1234, }, }\n');
  const reading = await readConfigFile(path);
  assert.ok(reading.ok && reading.exists);
  assert.equal(reading.config.listen.port, 1234);
});

test("keeps upstreams and tools in the order of the file", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, '{ "tools": { "pi": {}, "codex": {}, "kilo": {} } }');
  const reading = await readConfigFile(path);
  assert.deepEqual(reading.ok && Object.keys(reading.config.tools), ["pi", "codex", "kilo"]);
});

test("expands ~ to the home directory of the user who runs the daemon", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, '{ "ledger": { "directory": "~/usage" } }');
  const reading = await readConfigFile(path);
  assert.equal(reading.ok && reading.config.ledger.directory, join(homedir(), "usage"));
});

test("reports each problem with the line of its key, and a missing key with the line of its object", async (t) => {
  const text = `{
  "listen": { "port": "x" },
  "upstreams": {
    "default": {
      "key": "Team",
    },
  },
  "tols": {},
}`;
  assert.deepEqual(await problemsOf(t, text), [
    "F:2: listen.port: must be a whole number",
    "F:4: upstreams.default.baseUrl: is missing",
    'F:5: upstreams.default.key: a name has 1 to 64 characters of a-z, 0-9, ".", "_" and "-", and starts with a letter or digit',
    'F:8: tols: unknown key "tols"; did you mean "tools"?',
  ]);
});

const SYNTAX: [what: string, text: string, problems: string[]][] = [
  ["a missing comma", '{\n"ledger": {}\n"listen": {} }', ['F:3: a "," is missing before "listen"']],
  [
    "a missing comma before a value, which may be a key,",
    '{ "listen": { "allowedHosts": ["a"\n"hunter2"] } }',
    ['F:2: a "," is missing before this'],
  ],
  ["a missing colon", '{\n"listen" {} }', ['F:2: a ":" is missing between key and value']],
  ["a missing value", '{ "listen": }', ["F:1: a value is expected here"]],
  ["a missing brace", '{\n"listen": {}\n', ['F:3: a "}" is missing']],
  ["a missing bracket", '{ "listen": { "allowedHosts": ["a"', ['F:1: a "]" is missing']],
  ["text after the end", "{}\n{}", ["F:2: unexpected text after the last brace"]],
  ["an open comment", "{}\n/* and so on", ["F:2: the comment is not closed"]],
  ["an open string", '{ "listen: {} }', ["F:1: the string is not closed"]],
  ["a key without quotes", "{ listen: {} }", ["F:1: not JSON; strings and keys need double quotes"]],
  ["an unknown escape", String.raw`{ "$schema": "\x" }`, ["F:1: not a valid JSON escape"]],
  ["a tab in a string", '{ "$schema": "\t" }', ["F:1: control characters in strings must be escaped"]],
  ["an empty file", "", ["F: the file is empty; write at least {}"]],
  ["nothing but a comment", "// later", ["F: the file is empty; write at least {}"]],
  ["a list", "[]", ["F:1: must be an object: { ... }"]],
  ["a key that is defined twice", '{ "tools": {},\n"tools": {} }', ["F:2: tools: is defined twice"]],
  [
    "a key that is defined twice, deep inside",
    '{ "listen": { "allowedHosts": [] },\n"tools": { "a": {},\n"a": {} } }',
    ["F:3: tools.a: is defined twice"],
  ],
  [
    "__proto__",
    '{ "tools": {\n"__proto__": {} } }',
    ["F:2: tools.__proto__: this key is not allowed anywhere"],
  ],
];

for (const [what, text, problems] of SYNTAX) {
  test(`reports ${what} with its line`, async (t) => {
    assert.deepEqual(await problemsOf(t, text), problems);
  });
}

test("reports invalid values before a syntax error, and nothing that follows from the error", async (t) => {
  const text = '{\n"listen": { "port": "x" },\n"upstreams": { "default": { "baseUrl" "https://a/v1" } }\n}';
  const [first, second, ...rest] = await problemsOf(t, text);
  assert.equal(first, "F:2: listen.port: must be a whole number");
  assert.equal(second, 'F:3: a ":" is missing between key and value');
  assert.deepEqual(rest, []);
});

test("refuses a file that every user can write and names the chmod command, but accepts one that its group can write", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, withPort(1));
  chmodSync(path, 0o666);
  const problem = `F: the file cannot be used: other users can change it; fix: chmod go-w ${path}`;
  assert.deepEqual(await problemsAt(path), [problem]);
  chmodSync(path, 0o660);
  assert.deepEqual(await problemsAt(path), []);
});

test("refuses a configuration file of another user", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root can give a file away");
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, withPort(1));
  chownSync(path, 12_345, 0);
  const problem = `F: the file cannot be used: it belongs to another user; fix: look at what its owner wrote, then move it away with: mv ${path} ${path}.away`;
  assert.deepEqual(await problemsAt(path), [problem]);
});

test("reports a file without read permission as a problem instead of using the defaults", async (t) => {
  if (process.getuid?.() === 0) return t.skip("root may read everything");
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, withPort(1), { mode: 0o200 });
  const [problem] = await problemsAt(path);
  assert.match(problem ?? "", /^F: the file cannot be used: permission denied; fix: chmod u\+r /);
});

test("refuses a directory, a named pipe and a circle of symbolic links without blocking", async (t) => {
  const directory = scratchDirectory(t);
  mkdirSync(join(directory, "folder"));
  execFileSync("mkfifo", [join(directory, "pipe")]);
  symlinkSync(join(directory, "circle"), join(directory, "circle"));
  const refused = "F: the file cannot be used: it is not a regular file";
  assert.deepEqual(await problemsAt(join(directory, "folder")), [refused]);
  assert.deepEqual(await problemsAt(join(directory, "pipe")), [refused]);
  const [circle] = await problemsAt(join(directory, "circle"));
  assert.match(circle ?? "", /^F: the file cannot be used: its symbolic links lead in a circle/);
});

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { createKeySources } from "../../../src/adapters/key-sources.ts";
import { inspectCommand } from "../../../src/adapters/trust/inspect-command.ts";
import { KeyFailure } from "../../../src/core/failure.ts";
import type { KeyRef, KeySource } from "../../../src/core/secrets/key-source.ts";
import { MemoryKeys } from "../../helpers/gate/memory.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const PATH = "/usr/bin:/bin";

function refTo(source: KeySource): KeyRef {
  return { name: "default", origin: "https://api.example.com", source, setArguments: "key set" };
}

/** A script in a directory of its own. */
function script(t: TestContext, name: string, text: string): string {
  const path = join(scratchDirectory(t), name);
  writeFileSync(path, text, { mode: 0o700 });
  return path;
}

/** The place through which others could change what a command runs; null when there is none. */
async function placeOf(...argv: [string, ...string[]]): Promise<string | null> {
  return (await inspectCommand(argv, PATH)).exposure?.place ?? null;
}

test("a command is exposed while others can change its program, one of its directories, or a link that leads to it", async (t) => {
  const program = script(t, "print-key", "#!/bin/sh\n");
  const links = scratchDirectory(t);
  symlinkSync(program, join(links, "link"));
  const link = join(links, "link");
  assert.deepEqual([await placeOf(program), await placeOf(link)], [null, null]);
  chmodSync(program, 0o702);
  assert.deepEqual([await placeOf(program), await placeOf(link)], [program, program]);
  chmodSync(program, 0o700);
  chmodSync(links, 0o707);
  assert.deepEqual([await placeOf(program), await placeOf(link)], [null, links]);
});

test("the interpreter of a script is examined, also one that env looks for", async (t) => {
  const interpreter = script(t, "sh2", "");
  const program = script(t, "print-key", `#! ${interpreter} -e\n`);
  const byEnv = script(t, "print-key", "#!/usr/bin/env -S sh2 -e\n");
  chmodSync(interpreter, 0o702);
  assert.equal(await placeOf(program), interpreter);
  const searchPath = `${join(interpreter, "..")}:${PATH}`;
  assert.equal((await inspectCommand([byEnv], searchPath)).exposure?.place, interpreter);
});

test("files that arguments name are examined; devices, missing files and URLs are not", async (t) => {
  const named = script(t, "key.py", "");
  chmodSync(named, 0o602);
  assert.equal(await placeOf("python3", named), named);
  assert.equal(await placeOf("cat", `--file=${named}`), named);
  assert.equal(await placeOf("cat", "/dev/null", "/tmp/no-such-file", "op://vault/item"), null);
});

test("what an interpreter makes of an argument is examined: directories, names without their ending, file URLs, names of the working directory", async (t) => {
  const open = scratchDirectory(t);
  writeFileSync(join(open, "key.js"), "");
  mkdirSync(join(open, "app"));
  chmodSync(open, 0o707);
  const { href } = pathToFileURL(join(open, "key.js"));
  for (const arg of [join(open, "app"), join(open, "key"), `--import=${href}`, href])
    assert.equal(await placeOf("node", arg), open, arg);
  const before = process.cwd();
  t.after(() => process.chdir(before));
  process.chdir(open);
  assert.equal(await placeOf("node", "key.js"), open);
  assert.equal(await placeOf("node", "no-such-word"), null);
});

test("files that the first line of a script names are examined", async (t) => {
  const named = script(t, "lib.js", "");
  chmodSync(named, 0o602);
  const program = script(t, "print-key", `#!/usr/bin/env -S node --import=${named}\n`);
  assert.equal(await placeOf(program), named);
});

test("the program that was examined is the one that runs: its path, not its name", async (t) => {
  const program = script(t, "print-key", "#!/bin/sh\n");
  const found = await inspectCommand(["print-key"], `/nonexistent:${join(program, "..")}`);
  assert.equal(found.program, program);
  assert.equal((await inspectCommand(["no-such-program"], PATH)).program, null);
});

test("a key command that others can change is not run; clients are not told its path, and its owner gets the command that closes it", async (t) => {
  const directory = scratchDirectory(t);
  const proof = join(directory, "proof");
  const program = script(t, "print-key", `#!/bin/sh\ntouch ${proof}\necho some-key\n`);
  chmodSync(program, 0o702);
  const ref = refTo({ kind: "command", argv: [program] });
  const failure: unknown = await createKeySources(new MemoryKeys())
    .read(ref)
    .catch((error: unknown) => error);
  assert.ok(failure instanceof KeyFailure);
  assert.equal(failure.code, "unsafe");
  assert.doesNotMatch(`${failure.message} ${failure.hint}`, /print-key/);
  assert.match(
    failure.detail ?? "",
    new RegExp(`other users can change it; close it with: chmod go-w ${program}`),
  );
  assert.ok(!existsSync(proof));
});

test("a key file is refused while others can put another in its place", async (t) => {
  const directory = join(scratchDirectory(t), "keys");
  mkdirSync(directory);
  const path = join(directory, "key");
  writeFileSync(path, "some-key", { mode: 0o600 });
  chmodSync(directory, 0o707);
  const ref = refTo({ kind: "file", path });
  await assert.rejects(createKeySources(new MemoryKeys()).read(ref), {
    code: "unsafe",
    message: `other users can replace key file ${path}: everyone can write to ${directory}`,
    hint: `close it with: chmod go-w ${directory}`,
  });
});

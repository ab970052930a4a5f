import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { openTokenFile } from "../../src/adapters/token-file.ts";
import { Failure } from "../../src/core/failure.ts";
import type { TokenEntry } from "../../src/core/identity/token-entry.ts";
import { compileModule } from "../helpers/process/compile-module.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { NOBODY } from "../helpers/process/other-user.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function entry(id: number, tool = "codex"): TokenEntry {
  const digits = id.toString(16).padStart(8, "0");
  return { id: digits, tool, hash: digits.repeat(8), createdAt: "2026-11-21T12:00:00.000Z", note: null };
}

/** Returns a path in a directory that does not exist yet. */
function newPath(t: TestContext): string {
  return join(scratchDirectory(t), "state", "tollkeeper", "tokens.json");
}

/** Creates a file with one entry. */
async function filledFile(t: TestContext): Promise<string> {
  const path = newPath(t);
  await openTokenFile(path).add(entry(1));
  return path;
}

test("returns no tokens when the file is missing", (t) => {
  assert.deepEqual(openTokenFile(newPath(t)).read(), []);
});

test("a reader sees an added token until it is removed", async (t) => {
  const path = newPath(t);
  const store = openTokenFile(path);
  const noted = { ...entry(2, "zed"), note: 'a "note"\n' };
  await store.add(entry(1));
  await store.add(noted);
  assert.deepEqual(openTokenFile(path).read(), [entry(1), noted]);
  assert.deepEqual(await store.remove(({ tool }) => tool === "codex"), [entry(1)]);
  assert.deepEqual(await store.remove(({ tool }) => tool === "codex"), []);
  assert.deepEqual(openTokenFile(path).read(), [noted]);
  assert.deepEqual(readdirSync(dirname(path)), ["tokens.json"]);
});

for (const umask of [0o000, 0o077, 0o777]) {
  test(`creates the file with mode 0600 under umask ${umask.toString(8)}`, async (t) => {
    const path = newPath(t);
    mkdirSync(dirname(path), { recursive: true });
    const before = process.umask(umask);
    t.after(() => process.umask(before));
    await openTokenFile(path).add(entry(1));
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });
}

/** Ways to replace a valid file by one that cannot be trusted or read. */
const DISTRUSTED: [what: string, spoil: (path: string) => void, message: RegExp][] = [
  ["a symbolic link", inPlace((path, good) => symlinkSync(good, path)), /symbolic link/],
  ["a hard link", inPlace((path, good) => linkSync(good, path)), /hard link/],
  ["a directory", inPlace((path) => mkdirSync(path)), /not a regular file/],
  ["a named pipe", inPlace((path) => void execFileSync("mkfifo", ["-m", "600", path])), /not a regular file/],
  ["a file that its group may read", (path) => chmodSync(path, 0o640), /open to other users/],
  ["a file that anybody may write", (path) => chmodSync(path, 0o602), /open to other users/],
  ["an empty file", (path) => writeFileSync(path, ""), /the file is damaged/],
  ["half a file", (path) => writeFileSync(path, readFileSync(path).subarray(0, -9)), /the file is damaged/],
  ["a file of another version", (path) => edit(path, '"v":1', '"v":2'), /was written by a newer tollkeeper/],
  ["a file with a short hash", (path) => edit(path, "00000001", "0001"), /the file is damaged/],
  ["a file with an invalid tool name", (path) => edit(path, '"codex"', '"Co dex"'), /the file is damaged/],
  [
    "a file with an unknown property",
    (path) => edit(path, '"v":1', '"v":1,"all":true'),
    /the file is damaged/,
  ],
];

/** Moves the valid file aside and puts something in its place. */
function inPlace(put: (path: string, good: string) => void): (path: string) => void {
  return (path) => {
    renameSync(path, `${path}.good`);
    put(path, `${path}.good`);
  };
}

function edit(path: string, find: string, replacement: string): void {
  writeFileSync(path, readFileSync(path, "utf8").replace(find, replacement));
}

async function assertUnused(path: string, message: RegExp, hint = /./): Promise<void> {
  const store = openTokenFile(path);
  const isExpected = (error: unknown) => {
    assert.ok(error instanceof Failure && error.hint !== undefined);
    assert.match(error.message, message);
    assert.match(error.hint, hint);
    return true;
  };
  assert.throws(() => store.read(), isExpected);
  await assert.rejects(store.add(entry(2)), isExpected);
  assert.ok(!existsSync(`${path}.new`));
}

for (const [what, spoil, message] of DISTRUSTED) {
  test(`neither reads nor replaces ${what}`, async (t) => {
    const path = await filledFile(t);
    spoil(path);
    await assertUnused(path, message);
  });
}

test(
  "neither reads nor replaces another user's file",
  { skip: process.getuid?.() !== 0 && "needs root, to give a file away" },
  async (t) => {
    const path = await filledFile(t);
    chownSync(path, NOBODY, NOBODY);
    await assertUnused(path, /belongs to another user/, /with: mv /);
  },
);

test("throws a Failure when the file cannot be written", async (t) => {
  const path = newPath(t);
  writeFileSync(join(dirname(dirname(dirname(path))), "state"), "");
  await assert.rejects(openTokenFile(path).add(entry(1)), {
    name: "Failure",
    message: /^cannot write .*tokens\.json/,
  });
});

test(
  "reports the lock of a killed process and leaves the tokens unchanged",
  { timeout: 300_000 },
  async (t) => {
    const path = await filledFile(t);
    writeFileSync(`${path}.new`, "half of");
    await assert.rejects(openTokenFile(path).add(entry(2)), (error) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, /was killed while doing so: .*tokens\.json\.new exists/);
      assert.equal(error.hint, `if no other tollkeeper is running: rm '${path}.new'`);
      return true;
    });
    assert.deepEqual(openTokenFile(path).read(), [entry(1)]);
  },
);

const PROCESSES = 4;
const EACH = 25;

/** Waits for standard input, then adds tokens and removes every other one. */
const ADDER = `
  import { once } from "node:events";
  import { openTokenFile } from ${JSON.stringify(await compileModule("src/adapters/token-file.ts"))};
  const [path, first] = process.argv.slice(1);
  const store = openTokenFile(path);
  console.log("ready");
  await once(process.stdin, "data");
  for (let i = 0; i < ${EACH}; i += 1) {
    const id = (Number(first) + i).toString(16).padStart(8, "0");
    await store.add({ id, tool: "codex", hash: id.repeat(8), createdAt: "", note: null });
    if (i % 2 === 1) await store.remove((entry) => entry.id === id);
  }
  process.exit();`;

function startAdder(
  t: TestContext,
  path: string,
  first: number,
): ChildProcessByStdio<Writable, Readable, null> {
  const args = ["--input-type=module", "-e", ADDER, path, String(first)];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

test(
  `${PROCESSES} processes that concurrently add ${EACH} tokens each and remove every other one lose none`,
  { timeout: 300_000 },
  async (t) => {
    const path = newPath(t);
    const adders = Array.from({ length: PROCESSES }, (_, n) => startAdder(t, path, n * EACH));
    await Promise.all(adders.map(({ stdout }) => once(stdout, "data")));
    for (const { stdin } of adders) stdin.write("go");
    const ends = await Promise.all(adders.map((adder) => once(adder, "exit")));
    assert.deepEqual(
      ends,
      adders.map(() => [0, null]),
    );
    const kept = openTokenFile(path)
      .read()
      .map(({ id }) => Number.parseInt(id, 16));
    const wanted = Array.from({ length: PROCESSES * EACH }, (_, i) => i).filter((i) => (i % EACH) % 2 === 0);
    assert.deepEqual(
      kept.toSorted((a, b) => a - b),
      wanted,
    );
  },
);

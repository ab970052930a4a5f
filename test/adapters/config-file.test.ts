import assert from "node:assert/strict";
import { readFileSync, chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { openConfigFile } from "../../src/adapters/config-file.ts";
import { Failure } from "../../src/core/failure.ts";
import { follow, followFile, withPort } from "../helpers/config/config-file.ts";
import { scratchDirectory } from "../helpers/keychain/keychain-session.ts";

function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

function replaceLink(path: string, target: string): void {
  symlinkSync(target, `${path}.new`);
  renameSync(`${path}.new`, path);
}

/** Calls back when something in this process has read exactly `text` from a file. */
async function onRead(t: TestContext, path: string, text: string, done: () => void): Promise<void> {
  const handle = await open(path);
  await handle.close();
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  const readFile = prototype.readFile;
  t.mock.method(prototype, "readFile", async function (this: FileHandle, encoding: "utf8") {
    const read = await readFile.call(this, encoding);
    if (read === text) done();
    return read;
  });
}

test("an edit in place takes effect and is told", async (t) => {
  const { path, source, untilPort } = await followFile(t);
  assert.equal(source.current().listen.port, 1);
  await untilPort(2, () => writeFileSync(path, withPort(2)));
  assert.equal(source.current().listen.port, 2);
});

test("a file renamed over the old one takes effect, again and again", async (t) => {
  const { path, ports, untilPort } = await followFile(t);
  await untilPort(2, () => replaceFile(path, withPort(2)));
  await untilPort(3, () => replaceFile(path, withPort(3)));
  assert.deepEqual(ports, [2, 3]);
});

test("a deleted file leaves the last good configuration in force, and a new one is taken up", async (t) => {
  const { path, source, untilPort, untilProblems } = await followFile(t);
  const gone = {
    path: "",
    line: null,
    message: "the file is gone; the last good configuration stays in force",
  };
  assert.deepEqual(await untilProblems(() => rmSync(path)), [gone]);
  assert.equal(source.current().listen.port, 1);
  assert.deepEqual([source.status().exists, source.status().problems], [false, [gone]]);
  await untilPort(2, () => writeFileSync(path, withPort(2)));
  assert.deepEqual([source.status().exists, source.status().problems], [true, []]);
});

test("a link put on another file takes effect, and so does a new file in the link's target", async (t) => {
  const directory = scratchDirectory(t);
  const [one, two] = [join(directory, "one"), join(directory, "two")];
  mkdirSync(one);
  mkdirSync(two);
  writeFileSync(join(one, "real.jsonc"), withPort(1));
  writeFileSync(join(two, "real.jsonc"), withPort(2));
  const path = join(directory, "config.jsonc");
  symlinkSync(join(one, "real.jsonc"), path);
  const { untilPort } = await follow(t, path);
  await untilPort(2, () => replaceLink(path, join(two, "real.jsonc")));
  await untilPort(3, () => replaceFile(join(two, "real.jsonc"), withPort(3)));
});

test("after ten saves in a burst the last is in force, and none was found bad", async (t) => {
  const { path, source, ports, problems, untilPort } = await followFile(t);
  await untilPort(20, () => {
    for (let port = 11; port <= 20; port += 1) writeFileSync(path, withPort(port));
  });
  assert.equal(source.current().listen.port, 20);
  assert.deepEqual(ports, [20]);
  assert.deepEqual(problems, []);
});

test("a bad file changes nothing and is told with its line; the mended file takes effect", async (t) => {
  const { path, source, ports, untilPort, untilProblems } = await followFile(t);
  const before = source.status().loadedAt;
  const problems = await untilProblems(() => writeFileSync(path, '{\n"listen": { "port": 2 }, "oops": 1 }'));
  assert.deepEqual([problems.length, problems[0]?.path, problems[0]?.line], [1, "oops", 2]);
  assert.equal(source.current().listen.port, 1);
  const { judgedAt, ...status } = source.status();
  assert.deepEqual(status, { path, exists: true, loadedAt: before, problems });
  assert.ok(judgedAt > before);
  await untilPort(2, () => writeFileSync(path, withPort(2)));
  assert.deepEqual(source.status().problems, []);
  assert.deepEqual(ports, [2]);
});

test("a bad file is told once, however often it is read; another bad one is told again", async (t) => {
  const { path, source, problems } = await followFile(t);
  for (const text of ["{", "{", '{ "oops": 1 }', '{ "oops": 1 }', "{"]) {
    writeFileSync(path, text);
    await source.reload();
  }
  assert.deepEqual(
    problems.map(([problem]) => problem?.message.slice(0, 17)),
    ['a "}" is missing', 'unknown key "oops', 'a "}" is missing'],
  );
});

test("a bad file that says again what is in force is told to be good, once", async (t) => {
  const { path, source, ports, problems } = await followFile(t);
  const good = readFileSync(path, "utf8");
  for (const text of ["{", good, good]) {
    writeFileSync(path, text);
    await source.reload();
  }
  assert.deepEqual([problems.map(({ length }) => length), ports], [[1, 0], []]);
});

test("a file read anew that says the same is no change", async (t) => {
  const { path, source, ports } = await followFile(t);
  const before = source.status().loadedAt;
  writeFileSync(path, `// the same\n${withPort(1)}`);
  await source.reload();
  assert.deepEqual([ports, source.status().loadedAt], [[], before]);
});

test("a file that is half written when it is read is waited for, not found bad", async (t) => {
  const { path, problems, untilPort } = await followFile(t);
  const half = '{ "listen": { "po';
  // At once, and so before the daemon begins to wait for more.
  await onRead(t, path, half, () => writeFileSync(path, withPort(2)));
  await untilPort(2, () => writeFileSync(path, half));
  assert.deepEqual(problems, []);
});

test("a file that becomes writable for all is refused while the good one stays in force", async (t) => {
  const { path, source, problems } = await followFile(t);
  writeFileSync(path, withPort(2));
  chmodSync(path, 0o666);
  await source.reload();
  assert.match(problems[0]?.[0]?.message ?? "", /run `chmod go-w /);
  assert.equal(source.current().listen.port, 1);
});

test("a file whose directories do not exist yet is taken up when it appears", async (t) => {
  const path = join(scratchDirectory(t), "some", "where", "config.jsonc");
  const { source, untilPort } = await follow(t, path);
  assert.deepEqual([source.status().exists, source.status().problems], [false, []]);
  await untilPort(2, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, withPort(2));
  });
});

test("a file whose directory is removed and made again is followed on", async (t) => {
  const path = join(scratchDirectory(t), "tollkeeper", "config.jsonc");
  mkdirSync(dirname(path));
  writeFileSync(path, withPort(1));
  const { untilPort, untilProblems } = await follow(t, path);
  await untilProblems(() => rmSync(dirname(path), { recursive: true }));
  await untilPort(2, () => {
    mkdirSync(dirname(path));
    writeFileSync(path, withPort(2));
  });
  await untilPort(3, () => writeFileSync(path, withPort(3)));
});

test("a reload finds the file again after its watch was lost", async (t) => {
  const path = join(scratchDirectory(t), "tollkeeper", "config.jsonc");
  mkdirSync(dirname(path));
  writeFileSync(path, withPort(1));
  const { source, untilPort } = await follow(t, path);
  rmSync(dirname(path), { recursive: true });
  mkdirSync(dirname(path));
  writeFileSync(path, withPort(2));
  await source.reload();
  assert.equal(source.current().listen.port, 2);
  await untilPort(3, () => writeFileSync(path, withPort(3)));
});

test("a bad file at the start is a failure that lists every problem", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, '{\n"oops": 1,\n"listen": 2 }');
  await assert.rejects(openConfigFile(path), (error) => {
    assert.ok(error instanceof Failure);
    assert.deepEqual(error.message.split("\n"), [
      "the configuration is not usable",
      `  ${path}:2: oops: unknown key "oops"; known here: $schema, listen, access, upstreams, tools, outbound, ledger, abort, limits`,
      `  ${path}:3: listen: must be an object: { ... }`,
    ]);
    assert.equal(error.hint, `correct it with: tollkeeper config edit --config ${path}`);
    return true;
  });
});

import assert from "node:assert/strict";
import { readFileSync, chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { configFailure, openConfigFile } from "../../src/adapters/config-file.ts";
import { Failure } from "../../src/core/failure.ts";
import { watchConfig, watchNewConfig, withPort } from "../helpers/config/config-file.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

function replaceLink(path: string, target: string): void {
  symlinkSync(target, `${path}.new`);
  renameSync(`${path}.new`, path);
}

/** Calls `done` when this process has read exactly `text` from a file. */
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

test("applies a file that is edited in place", async (t) => {
  const { path, source, waitForPort } = await watchNewConfig(t);
  assert.equal(source.current().listen.port, 1);
  await waitForPort(2, () => writeFileSync(path, withPort(2)));
  assert.equal(source.current().listen.port, 2);
});

test("applies each file that is renamed over the old one", async (t) => {
  const { path, ports, waitForPort } = await watchNewConfig(t);
  await waitForPort(2, () => replaceFile(path, withPort(2)));
  await waitForPort(3, () => replaceFile(path, withPort(3)));
  assert.deepEqual(ports, [2, 3]);
});

test("keeps the last valid configuration when the file is deleted, and applies a new file", async (t) => {
  const { path, source, waitForPort, waitForProblems } = await watchNewConfig(t);
  const gone = {
    path: "",
    line: null,
    message: "the file no longer exists; the last valid configuration stays in force",
  };
  assert.deepEqual(await waitForProblems(() => rmSync(path)), [gone]);
  assert.equal(source.current().listen.port, 1);
  assert.deepEqual([source.status().exists, source.status().problems], [false, [gone]]);
  await waitForPort(2, () => writeFileSync(path, withPort(2)));
  assert.deepEqual([source.status().exists, source.status().problems], [true, []]);
});

test("applies the new target of a symbolic link, and a file that replaces the target", async (t) => {
  const directory = scratchDirectory(t);
  const [one, two] = [join(directory, "one"), join(directory, "two")];
  mkdirSync(one);
  mkdirSync(two);
  writeFileSync(join(one, "real.jsonc"), withPort(1));
  writeFileSync(join(two, "real.jsonc"), withPort(2));
  const path = join(directory, "config.jsonc");
  symlinkSync(join(one, "real.jsonc"), path);
  const { waitForPort } = await watchConfig(t, path);
  await waitForPort(2, () => replaceLink(path, join(two, "real.jsonc")));
  await waitForPort(3, () => replaceFile(join(two, "real.jsonc"), withPort(3)));
});

test("applies the last of ten saves in a burst, and reports none as invalid", async (t) => {
  const { path, source, ports, problems, waitForPort } = await watchNewConfig(t);
  await waitForPort(20, () => {
    for (let port = 11; port <= 20; port += 1) writeFileSync(path, withPort(port));
  });
  assert.equal(source.current().listen.port, 20);
  assert.deepEqual(ports, [20]);
  assert.deepEqual(problems, []);
});

test("an invalid file changes nothing and is reported with its line, and the corrected file is applied", async (t) => {
  const { path, source, ports, waitForPort, waitForProblems } = await watchNewConfig(t);
  const before = source.status().loadedAt;
  const problems = await waitForProblems(() =>
    writeFileSync(path, '{\n"listen": { "port": 2 }, "oops": 1 }'),
  );
  assert.deepEqual([problems.length, problems[0]?.path, problems[0]?.line], [1, "oops", 2]);
  assert.equal(source.current().listen.port, 1);
  const { judgedAt, ...status } = source.status();
  assert.deepEqual(status, { path, exists: true, managed: null, loadedAt: before, problems, overruled: [] });
  assert.ok(judgedAt > before);
  await waitForPort(2, () => writeFileSync(path, withPort(2)));
  assert.deepEqual(source.status().problems, []);
  assert.deepEqual(ports, [2]);
});

test("reports an invalid file once however often it is read, and each different one again", async (t) => {
  const { path, source, problems } = await watchNewConfig(t);
  for (const text of ["{", "{", '{ "oops": 1 }', '{ "oops": 1 }', "{"]) {
    writeFileSync(path, text);
    await source.reload();
  }
  assert.deepEqual(
    problems.map(([problem]) => problem?.message.slice(0, 17)),
    ['a "}" is missing', 'unknown key "oops', 'a "}" is missing'],
  );
});

test("reports once that a file is valid again when it matches the configuration in force", async (t) => {
  const { path, source, ports, problems } = await watchNewConfig(t);
  const good = readFileSync(path, "utf8");
  for (const text of ["{", good, good]) {
    writeFileSync(path, text);
    await source.reload();
  }
  assert.deepEqual([problems.map(({ length }) => length), ports], [[1, 0], []]);
});

test("does not report a change when the file has the same settings as before", async (t) => {
  const { path, source, ports } = await watchNewConfig(t);
  const before = source.status().loadedAt;
  writeFileSync(path, `// the same\n${withPort(1)}`);
  await source.reload();
  assert.deepEqual([ports, source.status().loadedAt], [[], before]);
});

test("waits for the rest of a file that is half written, and does not report it as invalid", async (t) => {
  const { path, problems, waitForPort } = await watchNewConfig(t);
  const half = '{ "listen": { "po';
  // Written synchronously, before the watcher starts to wait for more events.
  await onRead(t, path, half, () => writeFileSync(path, withPort(2)));
  await waitForPort(2, () => writeFileSync(path, half));
  assert.deepEqual(problems, []);
});

test("refuses a file that becomes writable for all users, and keeps the valid configuration", async (t) => {
  const { path, source, problems } = await watchNewConfig(t);
  writeFileSync(path, withPort(2));
  chmodSync(path, 0o666);
  await source.reload();
  assert.equal(problems[0]?.[0]?.hint, `chmod go-w ${path}`);
  assert.equal(source.current().listen.port, 1);
});

test("applies a file when it appears together with its directories", async (t) => {
  const path = join(scratchDirectory(t), "some", "where", "config.jsonc");
  const { source, waitForPort } = await watchConfig(t, path);
  assert.deepEqual([source.status().exists, source.status().problems], [false, []]);
  await waitForPort(2, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, withPort(2));
  });
});

test("keeps watching a file whose directory is removed and created again", async (t) => {
  const path = join(scratchDirectory(t), "tollkeeper", "config.jsonc");
  mkdirSync(dirname(path));
  writeFileSync(path, withPort(1));
  const { waitForPort, waitForProblems } = await watchConfig(t, path);
  await waitForProblems(() => rmSync(dirname(path), { recursive: true }));
  await waitForPort(2, () => {
    mkdirSync(dirname(path));
    writeFileSync(path, withPort(2));
  });
  await waitForPort(3, () => writeFileSync(path, withPort(3)));
});

for (const [what, levels] of [
  ["its directory", 1],
  ["the directory above", 2],
] as const) {
  test(`keeps watching a file after another directory has taken the place of ${what}`, async (t) => {
    const path = join(scratchDirectory(t), "home", "tollkeeper", "config.jsonc");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, withPort(1));
    const { waitForPort } = await watchConfig(t, path);
    const replaced = levels === 1 ? dirname(path) : dirname(dirname(path));
    await waitForPort(2, () => {
      renameSync(replaced, `${replaced}.away`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, withPort(2));
    });
    await waitForPort(3, () => writeFileSync(path, withPort(3)));
  });
}

test("the hint of an unusable configuration says once what fixes each problem, and an editor for the others", () => {
  const problem = { path: "", line: null, message: "wrong" };
  const advice = "if it is locked, unlock it with: unlock X";
  const problems = [problem, { ...problem, hint: "chmod 600 F" }, problem, { ...problem, hint: advice }];
  assert.equal(
    configFailure("F", problems).hint,
    `correct it with: tollkeeper config edit --config F; then chmod 600 F; then ${advice}`,
  );
});

test("an invalid file at the start is a Failure that lists every problem", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, '{\n"oops": 1,\n"listen": 2 }');
  await assert.rejects(openConfigFile(path), (error) => {
    assert.ok(error instanceof Failure);
    assert.deepEqual(error.message.split("\n"), [
      "the configuration is not usable",
      `  ${path}:2: oops: unknown key "oops"; known here: $schema, listen, access, upstreams, tools, plans, planLogins, groups, projects, keys, budgets, aliases, prices, priceTable, outbound, ledger, export, abort, limits, serviceLimits, capture, outliers`,
      `  ${path}:3: listen: must be an object: { ... }`,
    ]);
    assert.equal(error.hint, `correct it with: tollkeeper config edit --config ${path}`);
    return true;
  });
});

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openConfigFile, readConfigFile, type ConfigReading } from "../../../src/adapters/config-file.ts";
import { noManagedConfig, rootDirectory } from "../../helpers/config/managed-config.ts";
import { withPort } from "../../helpers/config/config-file.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const skip = noManagedConfig;

/** A managed file in directories of root's alone, with port 2, and a user's file beside it that is missing. */
function setUp(t: TestContext) {
  const root = rootDirectory(t);
  const directory = join(root, "tollkeeper");
  mkdirSync(directory, { mode: 0o755 });
  const managed = join(directory, "config.jsonc");
  writeFileSync(managed, withPort(2), { mode: 0o644 });
  const own = join(scratchDirectory(t), "config.jsonc");
  return { root, directory, managed, own, read: () => readConfigFile(own, managed) };
}

const portOf = (reading: ConfigReading) => (reading.ok ? reading.config.listen.port : reading.problems);
const textOf = (reading: ConfigReading) =>
  reading.ok ? [] : reading.problems.map(({ file, line, message, hint }) => ({ file, line, message, hint }));

test(
  "the managed file applies where the user's says nothing, and where there is no user's file",
  { skip },
  async (t) => {
    const { managed, own, read } = setUp(t);
    const alone = await read();
    assert.deepEqual([portOf(alone), alone.ok && alone.exists], [2, false]);
    writeFileSync(own, `{ "limits": { "drainMs": 1 } }`);
    assert.equal(portOf(await read()), 2);
    writeFileSync(own, withPort(3));
    assert.equal(portOf(await read()), 3);
    rmSync(managed);
    rmSync(own);
    assert.equal(portOf(await read()), 8655);
  },
);

test(
  "each problem has the file and the line that it is in, and what is wrong with the managed file is for root to correct",
  { skip },
  async (t) => {
    const { managed, own, read } = setUp(t);
    writeFileSync(own, `{\n"listen": { "port": "x" },\n}`);
    writeFileSync(managed, `{\n"listen": {\n"port": "y",\n"allowedHosts": 5 },\n"nope": 1 }`);
    const hint = `sudo -e ${managed}`;
    assert.deepEqual(textOf(await read()), [
      { file: undefined, line: 2, message: "must be a whole number", hint: undefined },
      { file: managed, line: 4, message: "must be a list: [ ... ]", hint },
      { file: managed, line: 5, message: textOf(await read())[2]?.message, hint },
    ]);
    writeFileSync(managed, `{\n"listen": {,\n`);
    const broken = textOf(await read());
    assert.deepEqual([broken[0]?.file, broken[1]?.file, broken[1]?.line], [undefined, managed, 2]);
  },
);

/** What users other than root could do to the file, and the command that ends it. */
const LOOSE: [
  what: string,
  loosen: (paths: ReturnType<typeof setUp>) => string,
  message: RegExp,
  fix: (at: string) => string,
][] = [
  [
    "its group can write",
    ({ managed }) => (chmodSync(managed, 0o664), managed),
    /^users other than root can write to /,
    (at) => `sudo chmod go-w ${at}`,
  ],
  [
    "everybody can write",
    ({ managed }) => (chmodSync(managed, 0o646), managed),
    /^users other than root can write to /,
    (at) => `sudo chmod go-w ${at}`,
  ],
  [
    "belongs to a user",
    ({ managed }) => (chownSync(managed, 12_345, 0), managed),
    / does not belong to root$/,
    (at) => `look at it, and then type: sudo chown -h root ${at}`,
  ],
  [
    "is in a directory that others can write to",
    ({ directory }) => (chmodSync(directory, 0o777), directory),
    /^users other than root can write to /,
    (at) => `sudo chmod go-w ${at}`,
  ],
  [
    "is in a directory with the sticky bit",
    ({ directory }) => (chmodSync(directory, 0o1777), directory),
    /^users other than root can write to /,
    (at) => `sudo chmod go-w ${at}`,
  ],
  [
    "is in a directory of a user",
    ({ directory }) => (chownSync(directory, 12_345, 0), directory),
    / does not belong to root$/,
    (at) => `look at it, and then type: sudo chown -h root ${at}`,
  ],
  [
    "is two levels below a directory that others can write to",
    ({ root }) => (chmodSync(root, 0o775), root),
    /^users other than root can write to /,
    (at) => `sudo chmod go-w ${at}`,
  ],
];

for (const [what, loosen, message, fix] of LOOSE) {
  test(
    `a managed file that ${what} is not used at all, and the message has the command that fixes it`,
    { skip },
    async (t) => {
      const paths = setUp(t);
      const at = loosen(paths);
      const [problem, ...more] = textOf(await paths.read());
      assert.deepEqual([problem?.file, problem?.hint, more], [paths.managed, fix(at), []]);
      assert.match(problem?.message.replace("the file cannot be used: ", "") ?? "", message);
    },
  );
}

test(
  "follows a link to another file of root's, and refuses one that leads through a directory of others, or belongs to a user",
  { skip },
  async (t) => {
    const { root, directory, managed, read } = setUp(t);
    const elsewhere = join(root, "elsewhere");
    mkdirSync(elsewhere);
    renameSync(managed, join(elsewhere, "real.jsonc"));
    symlinkSync("../elsewhere/./real.jsonc", managed);
    assert.equal(portOf(await read()), 2);
    chmodSync(elsewhere, 0o777);
    assert.equal(textOf(await read())[0]?.hint, `sudo chmod go-w ${elsewhere}`);
    chmodSync(elsewhere, 0o755);
    // A link among the directories that belongs to a user.
    renameSync(directory, join(root, "moved"));
    symlinkSync(join(root, "moved"), directory);
    assert.equal(portOf(await read()), 2);
    lchownSync(directory, 12_345, 0);
    assert.equal(textOf(await read())[0]?.hint, `look at it, and then type: sudo chown -h root ${directory}`);
  },
);

test("refuses a managed file that is too large, and a directory in its place", { skip }, async (t) => {
  const { managed, read } = setUp(t);
  writeFileSync(managed, " ".repeat(1024 * 1024 + 1));
  assert.match(textOf(await read())[0]?.message ?? "", /larger than 1 MiB/);
  rmSync(managed);
  mkdirSync(managed);
  assert.match(textOf(await read())[0]?.message ?? "", /not a regular file/);
});

test("a proxy's password is refused in the managed file, which every user can read", { skip }, async (t) => {
  const { managed, own, read } = setUp(t);
  const outbound = `{ "outbound": { "httpsProxy": "http://ada:secret-word@proxy:1" } }`;
  writeFileSync(managed, outbound);
  const [problem] = textOf(await read());
  assert.match(
    problem?.message ?? "",
    /^it contains a password, which every user of this machine could read/,
  );
  assert.equal(problem?.file, managed);
  writeFileSync(managed, "{}");
  writeFileSync(own, outbound, { mode: 0o600 });
  assert.equal((await read()).ok, true);
});

/** Opens both files. `wait` calls `act` and resolves at the first report after it that matches: a port, problems or overruled values. */
async function watch(t: TestContext, own: string, managed: string) {
  const source = await openConfigFile(own, managed);
  t.after(() => source.close());
  const reports = new EventEmitter();
  const tell = (what: string) => reports.emit("report", what);
  source.onChange(({ listen }) => {
    // The configuration is in force only after the source has received our "no objections".
    setImmediate(() => tell(`port ${listen.port}`));
    return Promise.resolve([]);
  });
  source.onProblems((problems) => {
    tell(`problems ${problems.map(({ file, message }) => `${file}: ${message}`).join("; ")}`);
  });
  source.onOverruled((overruled) => tell(`overruled ${overruled.map(({ path }) => path).join()}`));
  const wait = async (pattern: RegExp, act: () => void) => {
    const { promise, resolve } = withResolvers<string>();
    reports.on("report", (what: string) => pattern.test(what) && resolve(what));
    act();
    await promise;
    reports.removeAllListeners();
  };
  return { source, wait };
}

test(
  "a change of either file is applied, and a managed file whose directory appears later is found",
  { skip },
  async (t) => {
    const { root, directory, managed, own } = setUp(t);
    renameSync(directory, join(root, "later"));
    writeFileSync(own, "{}");
    const { source, wait } = await watch(t, own, managed);
    assert.deepEqual([source.current().listen.port, source.status().managed], [8655, null]);
    await wait(/^port 2$/, () => renameSync(join(root, "later"), directory));
    assert.deepEqual(source.status().managed, { path: managed, locked: [] });
    await wait(/^port 3$/, () => writeFileSync(managed, withPort(3)));
    await wait(/^port 4$/, () => writeFileSync(own, withPort(4)));
    await wait(/^port 3$/, () => writeFileSync(own, "{}"));
  },
);

test(
  "a lock that appears overrules the user's value at once, and is reported until the user removes it",
  { skip },
  async (t) => {
    const { managed, own } = setUp(t);
    writeFileSync(own, withPort(4));
    const { source, wait } = await watch(t, own, managed);
    const locked = `{ "locked": ["listen.port"], "listen": { "port": 5 } }`;
    // The values that are not used are told after the new configuration is in force.
    await wait(/^overruled listen.port$/, () => writeFileSync(managed, locked));
    assert.equal(source.current().listen.port, 5);
    assert.deepEqual(source.status().managed, { path: managed, locked: ["listen.port"] });
    await wait(/^overruled $/, () => writeFileSync(own, "{}"));
    assert.deepEqual([source.current().listen.port, source.status().overruled], [5, []]);
  },
);

test(
  "a managed file that goes away, or that others can write, leaves its configuration in force and is reported",
  { skip },
  async (t) => {
    const { managed, own } = setUp(t);
    const { source, wait } = await watch(t, own, managed);
    await wait(/config\.jsonc: the file cannot be used: users other than root/, () =>
      chmodSync(managed, 0o666),
    );
    assert.equal(source.current().listen.port, 2);
    await wait(/^problems $/, () => chmodSync(managed, 0o644));
    await wait(/config\.jsonc: the file no longer exists/, () => rmSync(managed));
    assert.equal(source.current().listen.port, 2);
    await wait(/^port 6$/, () => writeFileSync(managed, withPort(6)));
  },
);

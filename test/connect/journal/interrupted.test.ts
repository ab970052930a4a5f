import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { test, type TestContext } from "node:test";
import { scratchConnection } from "../scratch-connection.ts";

type Home = ReturnType<typeof scratchConnection>;

/** Every function that changes files. */
const CHANGES = [
  "openSync",
  "writeFileSync",
  "fchmodSync",
  "renameSync",
  "rmSync",
  "mkdirSync",
  "rmdirSync",
] as const;

// Node looks up what it removes files with when it first removes one: before anything here is replaced.
fs.rmSync(import.meta.filename + ".none", { force: true });

/** Runs `work` and lets only the first `count` file operations happen, as if the process was killed then. Returns true if it was. */
function killedAfter(t: TestContext, count: number, work: () => void): boolean {
  let done = 0;
  const mocks = CHANGES.map((name) => {
    const real = fs[name] as (...args: unknown[]) => unknown;
    return t.mock.method(fs, name, (...args: unknown[]) => {
      const isReading = name === "openSync" && args[1] !== "wx";
      if (!isReading && ++done > count) throw new Error("killed");
      return real(...args);
    });
  });
  try {
    work();
  } catch (error) {
    if (done <= count) throw error;
  } finally {
    for (const { mock } of mocks) mock.restore();
  }
  return done > count;
}

function first(home: Home) {
  return [home.file("settings.json"), home.file("new/config.toml", "toml"), home.file("rc", "sh")];
}

function second(home: Home) {
  return [
    home.file("settings.json", "jsonc", [["base"], "http://other"], [["env", "a"], "b"]),
    home.file("rc", "sh", [["other"], "x"]),
    home.file("later/config.yaml", "yaml"),
  ];
}

const SCENES: [what: string, prepare: (home: Home) => void, work: (home: Home) => void][] = [
  ["connecting", () => {}, (home) => home.connect(...first(home))],
  [
    "connecting again with other values",
    (home) => home.connect(...first(home)),
    (home) => home.connect(...second(home)),
  ],
  ["disconnecting", (home) => home.connect(...first(home)), (home) => home.disconnect()],
];

const RECOVERIES: [what: string, recover: (home: Home) => void][] = [
  ["disconnecting", () => {}],
  ["connecting", (home) => home.connect(...second(home))],
];

for (const [what, prepare, work] of SCENES) {
  for (const [how, recover] of RECOVERIES) {
    test(`everything can be restored by ${how} after ${what} was killed at any step`, (t) => {
      let steps = 0;
      for (let isKilled = true; isKilled; steps += 1) {
        const home = scratchConnection(t);
        home.write("settings.json", '{\n  "base": "https://first" // theirs\n}\n');
        home.write("rc", "fi");
        const before = home.snapshot();
        prepare(home);
        isKilled = killedAfter(t, steps, () => work(home));
        recover(home);
        const { unrestored = [] } = home.disconnect() ?? {};
        assert.deepEqual(unrestored, [], `after ${steps} steps`);
        assert.deepEqual(home.snapshot(), before, `after ${steps} steps`);
      }
      assert.ok(steps > 10, `${steps} steps`);
    });
  }
}

test("a disk that fills up once all files are written prevents neither connecting nor disconnecting", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "{}");
  const real = fs.openSync;
  let opened = 0;
  const { mock } = t.mock.method(fs, "openSync", (...args: Parameters<typeof fs.openSync>) => {
    // The backup, the journal, the file; then the journal again.
    if (args[1] === "wx" && ++opened > 3) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    return real(...args);
  });
  home.connect(home.file("settings.json"));
  mock.restore();
  assert.equal(opened, 4);
  assert.ok(home.prepare(home.file("settings.json")).isUnchanged);
  assert.equal(home.disconnect()?.changes[0]?.outcome, "restored");
  assert.deepEqual(home.snapshot(), ["settings.json 644 {}"]);
});

test("removes the temporary files of killed processes, and nothing else", (t) => {
  const home = scratchConnection(t);
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const theirs = ["settings.json.0123456789ab", "settings.json.tollkeeper-x", "other.json.tollkeeper-1"];
  for (const name of [...theirs, `settings.json.tollkeeper-${pid}`]) home.write(name, "x");
  // The parent process is alive and may be writing.
  home.write(`settings.json.tollkeeper-${process.ppid}`, "x");
  const others = [...theirs, `settings.json.tollkeeper-${process.ppid}`].sort();
  home.connect(home.file("settings.json"));
  assert.deepEqual(fs.readdirSync(home.home).sort(), [...others, "settings.json", "state"].sort());
  home.disconnect();
  assert.deepEqual(fs.readdirSync(home.home).sort(), [...others, "state"].sort());
});

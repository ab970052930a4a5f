import assert from "node:assert/strict";
import fs from "node:fs";
import { test, type TestContext } from "node:test";
import { scratchConnection } from "./scratch-connection.ts";

type Home = ReturnType<typeof scratchConnection>;

/** Everything by which files are changed. */
const CHANGES = [
  "openSync",
  "writeFileSync",
  "fchmodSync",
  "renameSync",
  "rmSync",
  "mkdirSync",
  "rmdirSync",
] as const;

/** Does something, of which after so many changes no more happens, as if the process had been killed. @returns was it? */
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
    return false;
  } catch (error) {
    if (done <= count) throw error;
    return true;
  } finally {
    for (const { mock } of mocks) mock.restore();
  }
}

/** Without what a killed process cannot take away: a new text that was not yet in its place, and the directory it is in. */
function filesOf(home: Home): string[] {
  const unfinished = home.snapshot().flatMap((line) => /^(\S*?)\/?[^/\s]+\.[0-9a-f]{12} /.exec(line) ?? []);
  return home
    .snapshot()
    .filter((line) => !unfinished.some((part) => part !== "" && line.startsWith(`${part.trim()} `)));
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
    test(`killed at any step of ${what}, everything is restored after ${how}`, (t) => {
      let steps = 0;
      for (let isKilled = true; isKilled; steps += 1) {
        const home = scratchConnection(t);
        home.write("settings.json", '{\n  "base": "https://first" // theirs\n}\n');
        home.write("rc", "fi");
        const before = filesOf(home);
        prepare(home);
        isKilled = killedAfter(t, steps, () => work(home));
        recover(home);
        const { left = [] } = home.disconnect() ?? {};
        assert.deepEqual(left, [], `after ${steps} steps`);
        assert.deepEqual(filesOf(home), before, `after ${steps} steps`);
      }
      assert.ok(steps > 10, `${steps} steps`);
    });
  }
}

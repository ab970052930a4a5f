import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openLedger } from "../../../src/adapters/ledger-file.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { ManualClock, MemoryLog } from "../../helpers/gate/memory.ts";
import { ledgerScratchDirectory, TODAY } from "../../helpers/ledger/ledger.ts";
import { noteNames, orphanNotes } from "../../helpers/ledger/notes.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

/** Everything by which the ledger changes files. */
const CHANGES = [
  "openSync",
  "writeSync",
  "writeFileSync",
  "renameSync",
  "unlinkSync",
  "rmSync",
  "ftruncateSync",
] as const;

/**
 * Lets the process change files `count` times, and then not any more, so that the files are as if it had been killed.
 * Returns a function that ends this and tells whether it came to that.
 */
function dieAfter(t: TestContext, count: number): () => boolean {
  let left = count;
  const mocked = CHANGES.map((name) => {
    const original = fs[name] as (...args: unknown[]) => unknown;
    const change = (...args: unknown[]) => {
      left -= 1;
      if (left < 0) throw new Error("killed");
      return original(...args);
    };
    return t.mock.method(fs, name, change as never);
  });
  syncBuiltinESMExports();
  return () => {
    for (const { mock } of mocked) mock.restore();
    syncBuiltinESMExports();
    return left < 0;
  };
}

const open = (directory: string) =>
  openLedger({ directory, retainDays: 400, clock: new ManualClock(), log: new MemoryLog(), onNewDay() {} });

/** Does something with a ledger, and is killed after `count` changes of files. Returns whether it was. */
function killIn(t: TestContext, count: number, doWith: () => void): boolean {
  const revive = dieAfter(t, count);
  try {
    doWith();
  } catch (error) {
    assert.match(String(error), /killed/);
  }
  return revive();
}

/** Returns the ids in today's file, sorted. */
function idsIn(directory: string): string[] {
  const lines = fs
    .readFileSync(join(directory, `${TODAY}.ndjson`), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => (JSON.parse(line) as UsageRecord).id).sort();
}

const noteOf = (id: string) => usageRecord({ id, outcome: "cut", cut_by: "crash" });

test("a start that is killed after any change of a file leaves each note to become a record once", (t) => {
  // What waits for the disk in a ledger that is dead is never written.
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let kills = 0;
  for (let isKilled = true; isKilled; kills += Number(isKilled)) {
    const directory = join(ledgerScratchDirectory(t), "ledger");
    const first = open(directory);
    for (const id of ["a", "b", "c"]) first.note([noteOf(id)]);
    orphanNotes(directory);
    isKilled = killIn(t, kills, () => void open(directory));
    orphanNotes(directory);
    open(directory);
    assert.deepEqual(
      [idsIn(directory), noteNames(directory)],
      [["a", "b", "c"], []],
      `after ${kills} changes`,
    );
  }
  assert.ok(kills >= 12, `${kills} changes`);
});

test("an exchange that is killed after any change of a file, from its note to its record, has one record", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let kills = 0;
  for (let isKilled = true; isKilled; kills += Number(isKilled)) {
    const directory = join(ledgerScratchDirectory(t), "ledger");
    const ledger = open(directory);
    ledger.note([noteOf("a")]);
    isKilled = killIn(t, kills, () => {
      ledger.note([noteOf("a")]);
      ledger.append([usageRecord({ id: "a" })]);
    });
    orphanNotes(directory);
    open(directory);
    assert.deepEqual([idsIn(directory), noteNames(directory)], [["a"], []], `after ${kills} changes`);
    const torn = fs.readdirSync(directory).filter((name) => name.endsWith(".torn"));
    assert.deepEqual(torn, [], `after ${kills} changes`);
  }
  assert.ok(kills >= 6, `${kills} changes`);
});

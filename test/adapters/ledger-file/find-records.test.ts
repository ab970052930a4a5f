import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { findRecords } from "../../../src/adapters/ledger-file/find-records.ts";
import { ledgerScratchDirectory } from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

/** Writes lines to a file, and returns which of these ids are found in it. */
function findIn(t: TestContext, lines: string[], ids: string[]): string[] {
  const path = join(ledgerScratchDirectory(t), "day");
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return [...findRecords(path, new Set(ids))].sort();
}

const lineOf = (id: string, bytes = 0) =>
  JSON.stringify(usageRecord({ id, raw_usage: { pad: "x".repeat(bytes), id: "in-usage" } }));

test("finds the records of these ids, and no id that stands elsewhere in a line", (t) => {
  const lines = ["", lineOf("a"), "no record", '{"v":1}', lineOf("b"), lineOf("in-session"), lineOf("c")];
  assert.deepEqual(findIn(t, lines, ["a", "c", "d", "in-usage", "no record"]), ["a", "c"]);
});

test("finds nothing in a file that does not exist", () => {
  assert.deepEqual([...findRecords("/does/not/exist", new Set(["a"]))], []);
});

test("finds records at every distance from the blocks in which the file is read", (t) => {
  for (let pad = 262_144 - 1_200; pad < 262_144 + 200; pad += 7) {
    const lines = [lineOf("long", pad), lineOf("a"), lineOf("longer", 700_000), lineOf("b"), "x"];
    assert.deepEqual(findIn(t, lines, ["a", "b", "longer"]), ["a", "b", "longer"], `after ${pad} bytes`);
  }
});

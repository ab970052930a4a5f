import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRecord } from "../../../src/core/ledger/parse-record.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

test("a record of an earlier release has no bill", () => {
  const { billed_usd: _, ...older } = usageRecord();
  const record = parseRecord(JSON.stringify(older));
  assert.ok(typeof record === "object");
  assert.equal(record.billed_usd, null);
});

test("a bill is a decimal number of dollars, or the line is no record", () => {
  const cases: [billed: unknown, isRecord: boolean][] = [
    ["0.00219855", true],
    ["0", true],
    ["12", true],
    [null, true],
    [0.1, false],
    ["-1", false],
    ["1e-5", false],
    ["1.", false],
    ["", false],
    ["NaN", false],
    ["9".repeat(41), false],
  ];
  for (const [billed, isRecord] of cases) {
    const line = JSON.stringify({ ...usageRecord(), billed_usd: billed });
    assert.equal(typeof parseRecord(line) === "object", isRecord, String(billed));
  }
});

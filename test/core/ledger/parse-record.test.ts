import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import { CSV_HEADER } from "../../../src/core/ledger/export/csv-columns.ts";
import { explainUnreadable, parseRecord } from "../../../src/core/ledger/parse-record.ts";
import { RECORD_FIELD_LIST } from "../../../src/core/ledger/record.ts";
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

test("a line whose field is of another kind is no record, and the field is named", () => {
  for (const { name, isOptional } of RECORD_FIELD_LIST) {
    const of = (value: unknown) => explainUnreadable(JSON.stringify({ ...usageRecord(), [name]: value }));
    if (name !== "v") assert.equal(of([{}]), `not a record: its field ${name} is wrong`, name);
    assert.equal(of(null) === null, isOptional, name);
    const { [name]: _, ...without } = usageRecord();
    assert.equal(explainUnreadable(JSON.stringify(without)) === null, isOptional, name);
  }
});

test("each field of a record is explained in docs/ledger.md, and has a column in the export or is the raw usage", () => {
  const page = readFileSync(new URL("../../../docs/ledger.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  for (const { name } of RECORD_FIELD_LIST) {
    assert.ok(
      rows.some((row) => row.split("|")[1]?.includes(`\`${name}\``)),
      name,
    );
    const isColumn = CSV_HEADER.some((column) => column === name || column.startsWith(`${name}_`));
    assert.ok(isColumn || name === "tokens" || name === "raw_usage", name);
  }
});

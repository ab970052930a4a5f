import assert from "node:assert/strict";
import { test } from "node:test";
import { fitColumns, rowLines, type FixedColumn } from "../../../src/cli/terminal/fixed-columns.ts";

interface Row {
  time: string;
  tool: string;
  reason: string;
}

const COLUMNS: readonly FixedColumn<Row>[] = [
  { head: "time", width: 4, align: "left", order: 1, text: ({ time }) => time },
  { head: "tool", width: 6, align: "left", order: 0, text: ({ tool }) => tool },
  { head: "", width: 6, align: "left", order: 0, text: ({ reason }) => reason },
];

const linesAt = (width: number, reason: string) =>
  rowLines(fitColumns(COLUMNS, width), width, { time: "9:14", tool: "codex", reason });

test("a reason that fits is in the row", () => {
  assert.deepEqual(linesAt(24, "200 done"), ["9:14  codex   200 done"]);
  assert.deepEqual(linesAt(Infinity, "429 refused by x"), ["9:14  codex   429 refused by x"]);
});

test("a reason that does not fit is whole below the row", () => {
  assert.deepEqual(linesAt(24, "429 budget spent, refused"), [
    "9:14  codex",
    "      429 budget spent,",
    "      refused",
  ]);
});

test("a word that is longer than the terminal is broken, and no line is too long", () => {
  const lines = linesAt(20, `404 GET /${"a".repeat(30)}`);
  assert.deepEqual(lines, [
    "9:14  codex",
    "      404 GET",
    "      /aaaaaaaaaaaaa",
    "      aaaaaaaaaaaaaa",
    "      aaa",
  ]);
});

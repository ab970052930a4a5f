import assert from "node:assert/strict";
import { test } from "node:test";
import {
  fillColumns,
  fitColumns,
  fitToRows,
  rowLine,
  rowLines,
  type FixedColumn,
} from "../../../src/cli/terminal/fixed-columns.ts";

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

test("a reason begins where cells before it are empty, if it fits there", () => {
  const row = { time: "9:14", tool: "", reason: "429 over" };
  assert.deepEqual(rowLines(COLUMNS, 18, row), ["9:14  429 over"]);
  assert.equal(rowLine(COLUMNS, 18, row), "9:14  429 over");
  const last = { head: "took", width: 5, align: "right", order: 0, text: () => "2.0 s" } as const;
  const [time, tool, reason] = COLUMNS as [FixedColumn<Row>, FixedColumn<Row>, FixedColumn<Row>];
  const columns = [time, { ...tool, width: 12 }, last, reason];
  assert.deepEqual(rowLines(columns, 28, row), ["9:14  429 over      2.0 s"]);
  // Of two places, it takes the one to the right.
  const twice = [{ ...time, width: 8, text: () => "" }, last, { ...tool, width: 8 }, last, reason];
  assert.deepEqual(rowLines(twice, 32, row), ["          2.0 s  429 over  2.0 s"]);
  const long = { ...row, reason: "429 budget spent" };
  assert.deepEqual(rowLines(columns, 28, long), ["9:14                2.0 s", "      429 budget spent"]);
});

test("columns become no wider than the rows that are printed need", () => {
  const columns = COLUMNS.map((column) => (column.head === "tool" ? { ...column, most: 40 } : column));
  const widthsFor = (...names: string[]) =>
    fillColumns(
      fitToRows(
        columns,
        names.map((name) => ({ time: "", tool: name, reason: "" })),
      ),
      200,
    ).map(({ width }) => width);
  assert.deepEqual(widthsFor("codex", "claude-code"), [4, 11, 6]);
  assert.deepEqual(widthsFor("zed"), [4, 6, 6]);
  assert.deepEqual(widthsFor(), [4, 40, 6]);
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

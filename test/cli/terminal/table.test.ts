import assert from "node:assert/strict";
import { test } from "node:test";
import { formatTable } from "../../../src/cli/terminal/table.ts";

const COLUMNS = [
  "tool",
  { head: "requests", align: "right" },
  { head: "cache read", align: "right" },
] as const;
const ROWS = [
  ["claude-code", "12", "1,234,567"],
  ["codex", "3", ""],
];

test("a table that fits the terminal is printed as one, also in bold", () => {
  const table = formatTable(COLUMNS, ROWS, true, 40);
  assert.equal(table.split("\n").length, 3);
  assert.match(table, /\ncodex +3\s*$/);
});

test("a table that is wider than the terminal becomes a list for each row, with no word broken", () => {
  assert.equal(
    formatTable(COLUMNS, ROWS, false, 30),
    "claude-code\n  requests    12\n  cache read  1,234,567\ncodex\n  requests    3",
  );
});

test("a long cell of a list goes on under its beginning, at any width, and no word is broken", () => {
  const reason = "the upstream has refused the request because its quota is used up until midnight";
  for (let width = 40; width < reason.length; width += 1) {
    const lines = formatTable(["tool", "why"], [["codex", reason]], false, width).split("\n");
    assert.ok(
      lines.every((line) => line.length <= width),
      lines.join("\n"),
    );
    assert.ok(lines.slice(2).every((line) => /^ {7}\S/.test(line)));
    assert.equal(lines.join(" ").replaceAll(/ +/g, " "), `codex why ${reason}`);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { markdownTable } from "./table.ts";

test("a table is aligned, with names to the left and figures to the right", () => {
  const lines = markdownTable(
    ["", "CPU µs"],
    [
      ["nginx", "21"],
      ["http-proxy-3", "1,172"],
    ],
  );
  assert.deepEqual(lines, [
    "|              | CPU µs |",
    "| ------------ | -----: |",
    "| nginx        |     21 |",
    "| http-proxy-3 |  1,172 |",
  ]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { PackedRows, type Cell } from "../../../src/cli/terminal/packed-rows.ts";

test("rows come out as they went in, whatever their texts and how they stand out", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "\0", "a\0b"));
  const cell: fc.Arbitrary<Cell> = fc.oneof(text, fc.record({ text, tone: fc.constant("strong" as const) }));
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 1 })), (rows) => {
      const packed = new PackedRows();
      for (const row of rows) packed.add(row);
      assert.equal(packed.length, rows.length);
      assert.deepEqual(
        rows.map((_, at) => packed.at(at)),
        rows,
      );
    }),
  );
});

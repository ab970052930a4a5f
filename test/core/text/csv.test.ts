import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as assertProperty, property, stringMatching } from "fast-check";
import { csvLine, parseCsv } from "../../../src/core/text/csv.ts";

test("reads quotes, separators and line ends in cells, empty cells, and any of the usual line ends", () => {
  assert.deepEqual(parseCsv('a,"b ""c"", d"\r\n"two\nlines",\n\n,'), [
    ["a", 'b "c", d'],
    ["two\nlines", ""],
    ["", ""],
  ]);
  assert.deepEqual(parseCsv("\uFEFFa\r\nb\r\n"), [["a"], ["b"]]);
  assert.deepEqual(parseCsv(""), []);
});

test("finds the separator in the first line", () => {
  assert.deepEqual(parseCsv("a;b\n1,5;2"), [
    ["a", "b"],
    ["1,5", "2"],
  ]);
  assert.deepEqual(parseCsv("a b\tc\n1\t2"), [
    ["a b", "c"],
    ["1", "2"],
  ]);
});

test("reads what tollkeeper writes as CSV", () => {
  const cell = stringMatching(/^[ -~]*$/).filter((text) => !/^[=+\-@]/.test(text));
  assertProperty(
    property(array(array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1 }), (rows) => {
      const header = ["a,b", "c"];
      const lines = [header, ...rows].map((cells) => `${csvLine(cells)}\r\n`);
      assert.deepEqual(parseCsv(`x,${lines.join("")}`).slice(1), rows);
    }),
  );
});

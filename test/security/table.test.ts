import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { MUTANTS } from "../mutants/all.ts";

const ROOT = new URL("../../", import.meta.url);

/** The number of rows in each section of the table. */
const SECTIONS = { A: 17, B: 11, C: 18, D: 10, E: 11, F: 9, G: 3 };
const ROWS = Object.entries(SECTIONS).flatMap(([letter, count]) =>
  Array.from({ length: count }, (_, i) => `${letter}${i + 1}`),
);

/** `[A1](../test/security/a1-….test.ts)` in the first cell. */
const TABLE_ROW = /^\| \[([A-G]\d+)\]\(\.\.\/([^)]+)\)/gm;

const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

test("every row of the threat table has one test file that is named after it, and SECURITY.md links to it", () => {
  const linked = [...read(".github/SECURITY.md").matchAll(TABLE_ROW)].map(([, row, path]) => [row, path]);
  const files = ["test/security", "test/faults"].flatMap((folder) =>
    readdirSync(fileURLToPath(new URL(folder, ROOT)))
      .filter((name) => /^[a-g]\d+-.*\.test\.ts$/.test(name))
      .map((name) => [name.split("-", 1)[0]?.toUpperCase(), `${folder}/${name}`]),
  );
  assert.deepEqual(linked.map(String).sort(), files.map(String).sort());
  assert.deepEqual(
    linked.map(([row]) => row),
    ROWS,
  );
});

test("every row has a mutant that takes its rule away", () => {
  assert.deepEqual(
    ROWS.filter((row) => !MUTANTS.some((mutant) => mutant.row === row)),
    [],
  );
});

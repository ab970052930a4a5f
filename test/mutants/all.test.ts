import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readDependencies } from "../run/dependencies.ts";
import { MUTANTS } from "./all.ts";
import { locateMutant } from "./locate-mutant.ts";
import { locate, type Edit } from "./locate.ts";
import { tokenize } from "./tokens.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

test("each mutant names a row of the threat table, or a part of the program, and a test file that exists", () => {
  for (const { row, without, test: file } of MUTANTS) {
    assert.match(row, /^(?:[A-G]\d+|budgets|prices|limits|connect|digest|page)$/, without);
    assert.ok(existsSync(ROOT + file), `${row}, without ${without}: no test ${file}`);
  }
});

test("there is a good dozen of mutants for what money is spent on, and for other programs' files", () => {
  for (const part of ["src/core/price/", "src/core/budget/", "src/connect/"]) {
    const { length } = MUTANTS.filter(({ file }) => file.startsWith(part));
    assert.ok(length >= 12, `${part}: ${length}`);
  }
});

test("no two mutants remove a rule under the same name from the same file, so that each has a name of its own", () => {
  const names = MUTANTS.map(({ row, without, file, test: of }) => `${row} ${without} ${file} ${of}`);
  assert.deepEqual(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  );
});

test("the test of each mutant loads the file that it changes, starts the program that is built from it, or reads it", async () => {
  const dependencies = await readDependencies();
  const strangers = MUTANTS.filter(({ file, test: of }) => dependencies.tieTo(of, [file]) === null);
  assert.deepEqual(strangers, []);
});

test("each mutant can be located in the source", (t) => {
  const failures: string[] = [];
  for (const mutant of MUTANTS) {
    try {
      const { renamed } = locateMutant(mutant, ROOT);
      if (renamed.length > 0) t.diagnostic(`${mutant.row}, ${mutant.file}: renamed ${renamed.join(", ")}`);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  assert.deepEqual(failures, []);
});

test("each mutant can still be located after any one of its names is changed", () => {
  for (const mutant of MUTANTS) {
    const { source, start, end } = locateMutant(mutant, ROOT);
    for (const name of namesIn(mutant, source.slice(start, end))) {
      const { source: changed, place } = rename(source, name, start);
      const where = `${mutant.row}, without ${mutant.without}: ${name} renamed in ${mutant.file}`;
      assert.doesNotThrow(() => assert.equal(locate(changed, mutant).start, place), where);
    }
  }
});

/** Returns the names in the code of a mutant; none when the mutant replaces a part of a literal. */
function namesIn({ find }: Edit, code: string): Set<string> {
  const isCode = tokenize(find)?.length === tokenize(code)?.length;
  const names = (isCode ? tokenize(code) : [])?.filter(({ kind }) => kind !== "fixed") ?? [];
  return new Set(names.map(({ text }) => text));
}

/** Changes a name everywhere in a source. `place` is where `offset` has moved to. */
function rename(source: string, name: string, offset: number): { source: string; place: number } {
  const changed = name.startsWith("#") ? "#otherName" : "otherName";
  const tokens = (tokenize(source) ?? []).filter(({ text }) => text === name);
  const before = tokens.filter(({ start }) => start < offset).length;
  const parts = tokens.map(({ end }, i) => changed + source.slice(end, tokens[i + 1]?.start));
  return {
    source: source.slice(0, tokens[0]?.start) + parts.join(""),
    place: offset + before * (changed.length - name.length),
  };
}

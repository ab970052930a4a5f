import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { groupChunks, type Chunk, type EntryRules } from "../../../src/adapters/bundle/group-chunks.ts";

const RULES: EntryRules = {
  acting: ["main"],
  before: () => ["main"],
  lasting: ["main", "serve"],
  frequent: ["usage"],
};

function chunk(path: string, bytes: number, imports: readonly string[], entry: string | null = null): Chunk {
  return { path, bytes, imports, entry, isProgram: entry === "start" };
}

function groupsOf(chunks: readonly Chunk[]): string[] {
  return groupChunks(chunks, RULES)
    .map(({ members }) => [...members].sort().join(" "))
    .sort();
}

test("small chunks that the same commands load become one, and large ones that only one needs stay apart", () => {
  const chunks = [
    chunk("start.js", 100, [], "start"),
    chunk("main.js", 100, ["a.js"], "main"),
    chunk("usage.js", 900, ["a.js", "b.js", "c.js"], "usage"),
    chunk("tail.js", 900, ["a.js", "b.js", "c.js", "large.js"], "tail"),
    chunk("a.js", 100, []),
    chunk("b.js", 100, ["a.js"]),
    chunk("c.js", 100, ["b.js"]),
    chunk("large.js", 500_000, ["c.js"]),
  ];
  assert.deepEqual(groupsOf(chunks), [
    "a.js",
    "b.js c.js usage.js",
    "large.js tail.js",
    "main.js",
    "start.js",
  ]);
});

/** Chunks that import only later ones, as esbuild's do; the first are entries. */
const CHUNKS: fc.Arbitrary<Chunk[]> = fc.integer({ min: 4, max: 14 }).chain((length) =>
  fc
    .tuple(
      ...Array.from({ length }, (_, at) =>
        fc.record({
          bytes: fc.integer({ min: 1, max: 40_000 }),
          imports: fc.subarray(
            Array.from({ length: length - 1 - at }, (__, later) => `${at + 1 + later}.js`),
          ),
          isEntry: fc.boolean(),
        }),
      ),
    )
    .map((drawn) => {
      const fixed = ["start", "main", "serve", "usage"];
      return drawn.map(({ bytes, imports, isEntry }, at) =>
        chunk(
          `${at}.js`,
          bytes,
          // Nothing imports what starts the rest.
          imports.filter((path) => path !== "1.js"),
          fixed[at] ?? (isEntry ? `entry ${at}` : null),
        ),
      );
    }),
);

test("each chunk is in one group; what acts is alone; what stays loads no more; and no group imports itself through others", () => {
  fc.assert(
    fc.property(CHUNKS, (chunks) => {
      const groups = groupChunks(chunks, RULES);
      const members = groups.flatMap((group) => group.members);
      assert.deepEqual([...members].sort(), chunks.map(({ path }) => path).sort());
      const groupOf = (path: string) => groups.findIndex((group) => group.members.includes(path));
      for (const path of ["0.js", "1.js"]) assert.deepEqual(groups[groupOf(path)]?.members, [path]);
      for (const { entry, members: all } of groups) {
        const entries = chunks.filter((one) => one.entry !== null && all.includes(one.path));
        assert.deepEqual(
          entries.map(({ path }) => path),
          entry === null ? [] : [entry],
        );
      }
      const importsOf = (group: number) =>
        chunks.filter(({ path }) => groupOf(path) === group).flatMap(({ imports }) => imports);
      const needed = reach(
        ["1.js", "2.js"],
        (path) => chunks.find((one) => one.path === path)?.imports ?? [],
      );
      const loaded = reach([...needed].map(groupOf), (group) => importsOf(group).map(groupOf));
      assert.deepEqual(
        [...loaded].flatMap((group) => groups[group]?.members ?? []).sort(),
        [...needed].sort(),
      );
      for (const group of groups.keys()) {
        const others = importsOf(group)
          .map(groupOf)
          .filter((other) => other !== group);
        assert.ok(!reach(others, (other) => importsOf(other).map(groupOf)).has(group));
      }
    }),
  );
});

function reach<T>(from: readonly T[], next: (at: T) => readonly T[]): Set<T> {
  const found = new Set(from);
  for (const at of found) for (const to of next(at)) found.add(to);
  return found;
}

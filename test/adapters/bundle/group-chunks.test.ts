import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { groupChunks, type Chunk } from "../../../src/adapters/bundle/group-chunks.ts";

/** Chunks of a size, each with those that it imports; the names of entries are in capitals. */
function chunksOf(imports: Record<string, string>, bytes: Record<string, number> = {}): Chunk[] {
  return Object.entries(imports).map(([path, imported]) => ({
    path,
    bytes: bytes[path] ?? 1_000,
    imports: imported.split(""),
    isEntry: path === path.toUpperCase(),
  }));
}

/** What is loaded with each file, once every group is one file. */
function loadedFiles(chunks: readonly Chunk[], groups: readonly string[][]): Map<string, Set<string>> {
  const fileOf = (path: string) => groups.find((group) => group.includes(path))?.join("") ?? path;
  const direct = new Map<string, Set<string>>();
  for (const { path, imports } of chunks) {
    const file = fileOf(path);
    const files = direct.get(file) ?? new Set();
    for (const imported of imports) if (fileOf(imported) !== file) files.add(fileOf(imported));
    direct.set(file, files);
  }
  const reach = (from: string) => {
    const reached = new Set(direct.get(from));
    for (const file of reached) for (const next of direct.get(file) ?? []) reached.add(next);
    return reached;
  };
  return new Map([...direct.keys()].map((file) => [file, reach(file)]));
}

test("small chunks that the same entries load become one file, in the order in which they are evaluated", () => {
  const chunks = chunksOf({ A: "y", B: "y", y: "x", x: "" });
  assert.deepEqual(groupChunks(chunks), [["x", "y"]]);
});

test("an entry does not load a large chunk for the sake of a file less", () => {
  const chunks = chunksOf({ A: "y", B: "x", y: "x", x: "" }, { y: 1_000_000 });
  assert.deepEqual(groupChunks(chunks), []);
});

test("an entry loads a small chunk that it does not need where that saves the others a file", () => {
  const chunks = chunksOf({ A: "y", B: "y", C: "x", y: "x", x: "" });
  assert.deepEqual(groupChunks(chunks), [["x", "y"]]);
});

test("chunks with another file between them stay apart: the two files would import each other", () => {
  const chunks = chunksOf({ A: "z", B: "X", z: "Xy", X: "y", y: "" });
  assert.deepEqual(groupChunks(chunks), []);
});

test("no entry is joined, no files import each other, and each chunk comes after those that it imports", () => {
  const arbitrary = fc.array(
    fc.record({
      bytes: fc.nat(30_000),
      isEntry: fc.boolean(),
      imported: fc.array(fc.nat(20), { maxLength: 6 }),
    }),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(arbitrary, (described) => {
      const chunks = described.map(({ bytes, isEntry, imported }, index) => ({
        path: `c${index} `,
        bytes,
        isEntry,
        imports: [...new Set(imported)].filter((other) => other < index).map((other) => `c${other} `),
      }));
      const groups = groupChunks(chunks);
      for (const [file, loaded] of loadedFiles(chunks, groups))
        assert.ok(!loaded.has(file), `${file} imports itself`);
      const members = groups.flat();
      assert.equal(new Set(members).size, members.length);
      for (const { path, isEntry, imports } of chunks) {
        if (isEntry) assert.ok(!members.includes(path));
        const group = groups.find((one) => one.includes(path)) ?? [path];
        for (const imported of imports)
          assert.ok(group.indexOf(imported) < group.indexOf(path), `${imported} comes after ${path}`);
      }
    }),
  );
});

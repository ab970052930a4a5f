import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { build } from "esbuild";
import { joinChunks } from "../../../src/adapters/bundle/join-chunks.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** A program that loads one of two commands. They share modules with a class, and with constants of the same names. */
const SOURCE: Readonly<Record<string, string>> = {
  "start.ts": `#!/usr/bin/env node\nawait import("./main.ts");\n`,
  "main.ts": `import { Failure } from "./failure.ts";
    try { await (process.argv[2] === "one" ? await import("./one.ts") : await import("./two.ts")).run(); }
    catch (error) { console.log(error instanceof Failure, error.message); }\n`,
  "failure.ts": `export class Failure extends Error {}\n`,
  "left.ts": `const text = "left"; export const name = text + " of both";\n`,
  "right.ts": `import { name } from "./left.ts"; const text = "right"; export { text as default, name as other };
    import { basename } from "node:path"; export const base = basename("/a/b");\n`,
  "one.ts": `import { Failure } from "./failure.ts"; import { name } from "./left.ts"; import text, { base } from "./right.ts";
    export function run() { console.log("one", name, text, base); throw new Failure("of one"); }\n`,
  "two.ts": `import { name } from "./left.ts"; import text, { other } from "./right.ts";
    export async function run() { console.log("two", name, text, other); console.log((await import("./right.ts")).default); }\n`,
};

async function joinSource(t: TestContext, source: Readonly<Record<string, string>>) {
  const directory = scratchDirectory(t);
  for (const [path, text] of Object.entries(source)) writeFileSync(join(directory, path), text);
  const { metafile, outputFiles } = await build({
    absWorkingDir: directory,
    entryPoints: [{ in: "start.ts", out: "main" }],
    outdir: "dist",
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    metafile: true,
    write: false,
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [path.slice(path.indexOf("dist/")), text]));
  const files = await joinChunks(
    { texts, outputs: metafile.outputs, programs: ["start.ts"] },
    { acting: ["main.ts"], before: () => ["main.ts"], lasting: [], frequent: [] },
  );
  return { directory, files, texts };
}

test("joined chunks do what the source does, in fewer files", async (t) => {
  const { directory, files, texts } = await joinSource(t, SOURCE);
  assert.ok(files.size < texts.size, `${[...files.keys()].join(" ")} of ${[...texts.keys()].join(" ")}`);
  assert.match(
    files.get("dist/main.js") ?? "",
    /^#!\/usr\/bin\/env node\n[^]*import\("\.\/chunks\/main-[0-9A-F]{8}\.js"\)/,
  );
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
  for (const [path, text] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  const outputOf = (word: string) =>
    spawnSync(process.execPath, [join(directory, "dist/main.js"), word], { encoding: "utf8" }).stdout;
  assert.equal(outputOf("one"), "one left of both right b\ntrue of one\n");
  assert.equal(outputOf("two"), "two left of both right left of both\nright\n");
});

test("what a program may load decides its name, and the first file of all, so that builds differ", async (t) => {
  const [files, same, other] = await Promise.all([
    joinSource(t, SOURCE),
    joinSource(t, SOURCE),
    joinSource(t, { ...SOURCE, "left.ts": `export const name = "changed";\n` }),
  ]);
  assert.deepEqual([...same.files], [...files.files]);
  assert.notEqual(other.files.get("dist/main.js"), files.files.get("dist/main.js"));
});

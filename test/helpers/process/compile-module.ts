import { rmSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { build } from "esbuild";
import { BUNDLES, COMPILED } from "../../run/bundle.ts";

/** Of this test file. A run removes those of processes that were killed. */
const DIRECTORY = join(BUNDLES, String(process.pid));

after(() => rmSync(DIRECTORY, { recursive: true, force: true }));

/**
 * Compiles a module with all that it imports, for processes that a test starts: each of them would take 0.2 s more with tsx.
 * @param source its path from the root of the project
 * @returns the path of a module that Node can load, which other users can read
 */
export async function compileModule(source: string): Promise<string> {
  const outfile = join(DIRECTORY, source.replace(/\.ts$/, ".mjs"));
  await build({ ...COMPILED, entryPoints: [source], outfile });
  return outfile;
}

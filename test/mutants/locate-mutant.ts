import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { locate, NotLocated, type Location } from "./locate.ts";
import type { Mutant } from "./mutant.ts";

/** A mutant's source file, and where the mutant changes it. */
export interface LocatedMutant extends Location {
  source: string;
}

/** Finds the code of a mutant in the project at `root`. Throws {@link NotLocated}, which says where code of a moved file is now. */
export function locateMutant(mutant: Mutant, root: string): LocatedMutant {
  const { row, without, file, find } = mutant;
  const fail = (reason: string) => new NotLocated(`${row}, without ${without}: ${reason}:\n${find}`);
  const path = join(root, file);
  if (!existsSync(path)) throw fail(`${file} is gone; ${describeOthers(mutant, root)}`);
  const source = readFileSync(path, "utf8");
  try {
    return { source, ...locate(source, mutant) };
  } catch (error) {
    throw error instanceof NotLocated ? fail(`${error.message} in ${file}`) : error;
  }
}

/** Says which other files contain the code of a mutant. */
function describeOthers(mutant: Mutant, root: string): string {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `src/${name}`);
  const found = files.filter((file) => hasCode(readFileSync(join(root, file), "utf8"), mutant));
  return found.length === 0 ? "no other file has this code" : `this code is in ${found.join(", ")}`;
}

function hasCode(source: string, mutant: Mutant): boolean {
  try {
    return locate(source, mutant).renamed.length === 0;
  } catch {
    return false;
  }
}

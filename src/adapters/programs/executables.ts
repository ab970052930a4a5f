import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Returns the path of the program that `name` starts, as the first directory of a PATH has it; null when none has. */
export function findExecutable(name: string, searchPath: string): string | null {
  const directories = searchPath.split(delimiter).filter((directory) => directory !== "");
  return directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Recipe, HostInfo } from "../tools/recipe.ts";

/** Is the tool here, as far as its signs tell? */
export function isInstalled(
  { signs }: Pick<Recipe, "signs">,
  { home, env }: Pick<HostInfo, "home" | "env">,
): boolean {
  const directories = (env["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const isThere = (name: string) => directories.some((directory) => isProgram(join(directory, name)));
  return signs.programs.some(isThere) || signs.files.some((file) => existsSync(join(home, file)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

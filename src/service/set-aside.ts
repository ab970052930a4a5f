import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { formatCommand } from "../core/text/shell-words.ts";

/**
 * Returns the fix for files that break the service: set them aside under a name that its manager ignores, or correct them.
 * @param next the command that follows
 */
export function setAside(files: readonly string[], next: string): string {
  const moves = files.map((path) => {
    const sudo = isWritable(dirname(path)) ? [] : ["sudo"];
    return formatCommand([...sudo, "mv", path, `${path}.off`]);
  });
  return `disable it with: ${moves.join(" && ")}; then: ${next}; or correct it`;
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

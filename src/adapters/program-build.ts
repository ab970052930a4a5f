import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

// Read when this module is loaded, and never again, as the version is.
const build = identifyBuild();

/**
 * Returns what identifies the code that this process runs among the builds of one version; null where nothing has been
 * built. It changes with the code of every command and of the daemon, not with that of the dependencies
 * that npm installs.
 */
export function programBuild(): string | null {
  return build;
}

/** The entry imports every chunk by a name that contains a hash of its contents and of what it imports in turn. */
function identifyBuild(): string | null {
  try {
    const entry = readFileSync(new URL(import.meta.resolve("#package/dist/main.js")));
    return createHash("sha256").update(entry).digest("hex").slice(0, 12);
  } catch {
    return null;
  }
}

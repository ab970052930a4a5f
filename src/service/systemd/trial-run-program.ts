/**
 * Runs as a separate program inside the sandbox under trial. Exits with code 1 and a line on standard error when the daemon
 * could not work there. Arguments: the files that the daemon reads, `--`, and the directories that it writes to.
 */
import { accessSync, constants, statSync } from "node:fs";
import { networkInterfaces } from "node:os";

try {
  checkAccess(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

function checkAccess(args: string[]): void {
  const end = args.indexOf("--");
  networkInterfaces();
  for (const file of args.slice(0, end)) requireOwnFile(file);
  for (const directory of args.slice(end + 1)) accessSync(directory, constants.W_OK);
}

/** The daemon accepts only its user's own files. In a user namespace, files of root appear to belong to `nobody`. */
function requireOwnFile(path: string): void {
  accessSync(path, constants.R_OK);
  if (statSync(path).uid !== process.getuid?.())
    throw new Error(`${path} does not belong to you, and its owner is unknown in the sandbox`);
}

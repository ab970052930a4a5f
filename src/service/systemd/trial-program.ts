/**
 * Runs in the sandbox when it is tried, and fails where the daemon would: with exit code 1 and a line on standard error.
 * Arguments: the files that the daemon reads, `--`, and the directories that it writes to.
 */
import { accessSync, constants, statSync } from "node:fs";
import { networkInterfaces } from "node:os";

try {
  needWhatTheDaemonNeeds(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

function needWhatTheDaemonNeeds(words: string[]): void {
  const end = words.indexOf("--");
  networkInterfaces();
  for (const file of words.slice(0, end)) needOwnFile(file);
  for (const directory of words.slice(end + 1)) accessSync(directory, constants.W_OK);
}

/** In a user namespace root's file is nobody's, and what is nobody's is not trusted. */
function needOwnFile(path: string): void {
  accessSync(path, constants.R_OK);
  if (statSync(path).uid !== process.getuid?.())
    throw new Error(`${path} is not your own, and nobody's in there`);
}

/**
 * Runs in the sandbox when it is tried, and fails where the daemon would: with exit code 1 and a line on standard error.
 * Arguments: the configuration file, or nothing when there is none, and the directories that must be writable.
 */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";

try {
  needWhatTheDaemonNeeds(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

function needWhatTheDaemonNeeds([configFile = "", ...writable]: string[]): void {
  networkInterfaces();
  for (const directory of writable) accessSync(directory, constants.W_OK);
  if (configFile !== "") refuseForeignFile(configFile);
}

/** In a user namespace root's file is nobody's, and a configuration of nobody's is not trusted. */
function refuseForeignFile(path: string): void {
  readFileSync(path);
  if (statSync(path).uid !== process.getuid?.()) throw new Error(`${path} is nobody's own in there`);
}

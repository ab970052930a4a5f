import { dirname } from "node:path";
import { Failure, hasCode } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { readTrustedFile } from "../trust/trusted-file.ts";

/**
 * The managed configuration file: what an administrator sets for every user of the machine, below their own files. No argument and
 * no variable moves it, because anyone who could set those could choose its content. Windows has none.
 */
export const MANAGED_PATH =
  process.platform === "darwin"
    ? "/Library/Application Support/tollkeeper/config.jsonc"
    : "/etc/tollkeeper/config.jsonc";

/**
 * Reads a managed configuration file; null when there is none. Throws a Failure that says what to type unless root alone can change
 * the file, each directory that leads to it, and the links among them (SECURITY.md B10).
 */
export async function readManagedFile(path: string): Promise<string | null> {
  if (process.platform === "win32") return null;
  try {
    return (await readTrustedFile(path, "root")).text;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return null;
    if (!hasCode(error, "EACCES")) throw error;
    const open = `${formatCommand(["sudo", "chmod", "a+rx", dirname(path)])} && ${formatCommand(["sudo", "chmod", "a+r", path])}`;
    throw new Failure("users cannot read it", open, { cause: error });
  }
}

import * as fs from "node:fs";
import { attribute } from "../../core/system-error.ts";

/**
 * Writes a file of mode 0600 at once: a reader sees all of the old one or all of the new. A crash may leave `unfinished`, which has a name
 * of this process unless the file has only one writer. Throws an errno error.
 */
export function replaceFile(
  path: string,
  content: string | Buffer,
  unfinished = `${path}.${process.pid}.new`,
): void {
  try {
    fs.writeFileSync(unfinished, content, { mode: 0o600, flag: "wx", flush: true });
    fs.renameSync(unfinished, path);
  } catch (error) {
    fs.rmSync(unfinished, { force: true });
    throw attribute(error, path);
  }
}

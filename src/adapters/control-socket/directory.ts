import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { Failure } from "../../core/failure.ts";
import { refuseExposed } from "../trust/exposure.ts";
import { listing } from "../unix-socket/listen.ts";

/**
 * Refuses a link, another user's directory, and one that somebody else could replace: commands would reach a program of
 * theirs (SECURITY.md E4). The mode is set explicitly because `mkdir` leaves that of an existing directory as it is.
 */
export async function makePrivateDirectory(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  const self = process.geteuid?.() ?? found.uid;
  if (!found.isDirectory() || found.uid !== self) {
    const message = `the control socket cannot be created in ${directory}: it is a symbolic link or belongs to another user`;
    throw new Failure(message, `inspect it with: ${listing(directory)}; then remove it`);
  }
  chmodSync(directory, 0o700);
  await refuseExposed(directory, `the directory of the control socket, ${directory}`);
}

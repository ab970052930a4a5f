import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { Failure } from "../../core/failure.ts";
import { listing } from "../unix-socket/listen.ts";

/**
 * Refuses a link or another user's directory, which could have been planted to receive the socket (SECURITY.md E4). The
 * mode is set explicitly because `mkdir` leaves that of an existing directory as it is.
 */
export function makePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  const self = process.geteuid?.() ?? found.uid;
  if (!found.isDirectory() || found.uid !== self) {
    const message = `the control socket cannot be created in ${directory}: it is a symbolic link or belongs to another user`;
    throw new Failure(message, `inspect it with: ${listing(directory)}; then remove it`);
  }
  chmodSync(directory, 0o700);
}

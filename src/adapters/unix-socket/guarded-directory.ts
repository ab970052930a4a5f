import { lstatSync, mkdirSync, realpathSync, type Stats } from "node:fs";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { refuseExposed } from "../trust/exposure.ts";
import { listing } from "./listen.ts";

const NAME = 'the directory of "listen.socket"';

const OPEN_TO_OTHERS = 0o077;

/**
 * Creates the directory that guards the socket of `listen.socket`, or checks the one that is there: Node cannot ask the kernel who
 * connects to a Unix socket, so nobody else may be able to reach it (SECURITY.md A13). We never change its mode, because it may
 * be one that others use.
 * @param ours directories of tollkeeper that must not be seen in a container along with the socket
 * @throws Failure when others can enter or exchange it, or it is or contains one of `ours`
 */
export async function guardDirectory(directory: string, ours: readonly string[]): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  if (!found.isDirectory() || !isOwn(found)) {
    const message = `${NAME}, ${directory}, is a symbolic link or belongs to another user`;
    throw new Failure(message, `inspect it with: ${listing(directory)}; then choose another directory`);
  }
  if ((found.mode & OPEN_TO_OTHERS) !== 0) {
    const message = `other users can enter ${NAME}, ${directory}`;
    throw new Failure(message, `close it with: ${formatCommand(["chmod", "700", directory])}`);
  }
  const real = realpathSync(directory);
  if (ours.some((other) => `${realOrSame(other)}/`.startsWith(`${real}/`))) {
    const message = `${NAME}, ${directory}, contains other files of tollkeeper, which a container would see as well`;
    throw new Failure(message, "choose a directory that holds only the socket, with: tollkeeper config edit");
  }
  // A user who can rename a directory above it, or replace a link that leads to it, could put another in its place, and receive what
  // tools send.
  await refuseExposed(directory, `${NAME}, ${directory}`);
}

function isOwn({ uid }: Stats): boolean {
  return uid === (process.geteuid?.() ?? uid);
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

import { lstatSync, mkdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { dirname, resolve } from "node:path";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { isInSandbox } from "../user-namespace.ts";
import { listing } from "./listen.ts";

const NAME = 'the directory of "listen.socket"';

const OPEN_TO_OTHERS = 0o077;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/**
 * Creates the directory that guards the socket of `listen.socket`, or checks the one that is there: Node cannot ask the kernel who
 * connects to a Unix socket, so nobody else may be able to reach it (SECURITY.md A13). We never change its mode, because it may
 * be one that others use.
 * @param ours directories of tollkeeper that must not be seen in a container along with the socket
 * @throws Failure when others can enter or exchange it, or it is or contains one of `ours`
 */
export function guardDirectory(directory: string, ours: readonly string[]): void {
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
  refuseExchangeable(directory, dirname(resolve(directory)));
}

/**
 * A user who can rename a directory above it, or replace a link that leads to it, could put another in its place, and receive what tools
 * send. Examines `lowest` and what is above it.
 */
function refuseExchangeable(directory: string, lowest: string): void {
  for (let above = lowest; ; above = dirname(above)) {
    const found = lstatSync(above);
    // A link has no mode of its own: who may replace it is up to its directory.
    if (found.isSymbolicLink())
      refuseExchangeable(directory, resolve(realpathSync(dirname(above)), readlinkSync(above)));
    else if ((found.mode & WRITABLE_BY_ALL) !== 0 && (found.mode & STICKY) === 0) {
      const message = `other users can replace ${NAME}, ${directory}: everyone can write to ${above}`;
      throw new Failure(message, `close it with: ${formatCommand(["chmod", "o-w", above])}`);
    }
    if (!isOwn(found) && found.uid !== 0 && !isInSandbox()) {
      const message = `another user can replace ${NAME}, ${directory}: ${above} is not yours`;
      throw new Failure(message, `inspect it with: ${listing(above)}; then choose another directory`);
    }
    if (above === dirname(above)) return;
  }
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

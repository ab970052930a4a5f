import { once } from "node:events";
import { lstatSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { dirname } from "node:path";
import { Failure, hasCode } from "../../core/failure.ts";
import { ACCEPT_QUEUE } from "../../core/http/accept-queue.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import type { Log } from "../../ports.ts";
import { hasListener } from "./path.ts";
import { fixOf } from "../system-fix.ts";
import { reasonOf } from "../../core/system-error.ts";

/** A Unix socket of the daemon, and what guards it. */
interface SocketPlace {
  path: string;
  /** What it is called in messages, e.g. `the control socket`. */
  name: string;
  /** Creates its directory. Rejects with a Failure when others could have planted it. */
  prepareDirectory(directory: string): Promise<void>;
  /** Returns the failure for a socket on which another program listens. */
  taken(): Failure;
  /** Where the socket goes when it has been removed and cannot be created again at `path`. */
  spare?: SparePlace | undefined;
}

/** Another place for a socket. */
export interface SparePlace {
  path: string;
  /** Called after the socket has moved there. */
  onMove(): void;
}

/** How often the daemon checks that its socket still exists. That takes microseconds. */
const LOOK_MS = 2_000;

/**
 * Listens on a Unix socket that only the owner can reach, in place of one that a dead daemon left. A socket that someone
 * removes, alone or with its directory, is created again within seconds; what is under way on its connections goes on.
 * @returns a function that ends that watch; call it before the server is closed
 * @throws Failure when another daemon listens there, or when the socket cannot be created
 */
export async function listenAt(server: Server, place: SocketPlace, log: Log): Promise<() => void> {
  try {
    await makeSocket(server, place);
  } catch (error) {
    throw error instanceof Failure ? error : cannotOpen(place, error);
  }
  return keepSocket(server, place, log);
}

async function makeSocket(server: Server, place: SocketPlace): Promise<void> {
  await place.prepareDirectory(dirname(place.path));
  await listenReplacingStale(server, place);
}

function keepSocket(server: Server, first: SocketPlace, log: Log): () => void {
  const { name } = first;
  let place = first;
  let own = identify(place.path);
  let isBusy = false;
  let hasEnded = false;
  const restore = async () => {
    // Another daemon may have taken the path in the meantime.
    if ((await hasListener(place.path)) || hasEnded) return;
    // libuv removes what is at the path when the server closes.
    if (isOtherFile(place.path)) {
      log.debug({}, `${name} has been replaced by another file, which is left alone`);
      return;
    }
    server.close();
    try {
      await makeSocket(server, place);
      own = identify(place.path);
      log.info({}, `${name} had been removed and was created again`);
    } catch (error) {
      log.debug({ err: error }, `${name} has been removed and cannot be created again yet`);
      await moveToSpare();
    }
  };
  const moveToSpare = async () => {
    const { spare } = place;
    if (spare === undefined) return;
    const moved = { ...place, path: spare.path, spare: undefined };
    try {
      await makeSocket(server, moved);
      place = moved;
      own = identify(place.path);
      spare.onMove();
      log.info({}, `${name} had been removed and was created in ${dirname(place.path)}`);
    } catch (error) {
      log.debug({ err: error }, `${name} cannot be created in ${dirname(spare.path)} either`);
    }
  };
  const look = async () => {
    const found = identify(place.path);
    if (isBusy || (found !== null && found === own)) return;
    isBusy = true;
    await restore();
    isBusy = false;
  };
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return () => {
    hasEnded = true;
    clearInterval(timer);
  };
}

/** Returns what distinguishes one file from another; null when there is no reachable file. */
function identify(path: string): string | null {
  try {
    const { dev, ino } = lstatSync(path);
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

async function listenReplacingStale(server: Server, place: SocketPlace): Promise<void> {
  const { path } = place;
  try {
    await listen(server, path);
  } catch (error) {
    if (!hasCode(error, "EADDRINUSE")) throw error;
    if (await hasListener(path)) throw place.taken();
    refuseOtherFile(place);
    rmSync(path, { force: true });
    await listen(server, path);
  }
}

function isOtherFile(path: string): boolean {
  try {
    return !lstatSync(path).isSocket();
  } catch {
    // Nothing is there, or the directory cannot be entered any more.
    return false;
  }
}

/** Only a socket that a dead daemon left is removed. */
function refuseOtherFile({ path, name }: SocketPlace): void {
  if (!isOtherFile(path)) return;
  throw new Failure(
    `cannot open ${name} ${path}: something else is there`,
    `inspect it with: ${listing(path)}; then remove it`,
  );
}

/** Creates the socket under a tight umask. With a `chmod` afterwards, someone could connect in between. */
async function listen(server: Server, path: string): Promise<void> {
  const umask = process.umask(0o177);
  // Removes its listeners either way, unlike a callback: a failed attempt is repeated every few seconds.
  const listening = once(server, "listening");
  server.listen({ path, backlog: ACCEPT_QUEUE });
  process.umask(umask);
  await listening;
}

/** Returns the command that shows whose a file is, and who may use it. */
export function listing(path: string): string {
  return formatCommand(["ls", "-ld", path]);
}

function cannotOpen({ path, name }: SocketPlace, error: unknown): Failure {
  return new Failure(
    `cannot open ${name} ${path}: ${reasonOf(error)}`,
    fixOf(error) ?? `check the permissions with: ${listing(dirname(path))}`,
    { cause: error },
  );
}

import { once } from "node:events";
import { chmodSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { connect, type Server } from "node:net";
import { dirname } from "node:path";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import type { Log } from "../../ports.ts";
import { isNotListening } from "./path.ts";

/** How often the daemon checks that its socket still exists. That takes microseconds. */
const LOOK_MS = 2_000;

/**
 * Listens on a Unix socket that only the owner can reach, in place of one that a dead daemon left. A socket that someone
 * removes, alone or with its directory, is created again within seconds, and its connections stay.
 * @returns a function that ends that watch; call it before the server is closed
 * @throws Failure when another daemon listens there, or when the socket cannot be created
 */
export async function listenAt(server: Server, path: string, log: Log): Promise<() => void> {
  try {
    await makeSocket(server, path);
  } catch (error) {
    throw error instanceof Failure ? error : cannotOpen(path, error);
  }
  return keepSocket(server, path, log);
}

async function makeSocket(server: Server, path: string): Promise<void> {
  makePrivateDirectory(dirname(path));
  await listenReplacingStale(server, path);
}

function keepSocket(server: Server, path: string, log: Log): () => void {
  let own = identify(path);
  let isBusy = false;
  let hasEnded = false;
  const restore = async () => {
    // Another daemon may have taken the path in the meantime.
    if ((await hasListener(path)) || hasEnded) return;
    // Its connections stay. libuv removes what is at the path now.
    server.close();
    try {
      await makeSocket(server, path);
      own = identify(path);
      log.info({}, "the control socket had been removed and was created again");
    } catch (error) {
      log.debug({ err: error }, "the control socket has been removed and cannot be created again yet");
    }
  };
  const look = async () => {
    const found = identify(path);
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

/**
 * Refuses a link or another user's directory, which could have been planted to receive the socket (SECURITY.md E4). The
 * mode is set explicitly because `mkdir` leaves that of an existing directory as it is.
 */
function makePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  const self = process.geteuid?.() ?? found.uid;
  if (!found.isDirectory() || found.uid !== self) {
    const message = `the control socket cannot be created in ${directory}: it is a link, or belongs to another user`;
    throw new Failure(message, `inspect it with: ${listing(directory)}; then remove it`);
  }
  chmodSync(directory, 0o700);
}

async function listenReplacingStale(server: Server, path: string): Promise<void> {
  try {
    await listen(server, path);
  } catch (error) {
    if (!hasCode(error, "EADDRINUSE")) throw error;
    if (await hasListener(path))
      throw new Failure("tollkeeper is already running", "see it with: tollkeeper status");
    rmSync(path, { force: true });
    await listen(server, path);
  }
}

/** Creates the socket under a tight umask. With a `chmod` afterwards, someone could connect in between. */
async function listen(server: Server, path: string): Promise<void> {
  const umask = process.umask(0o177);
  // Removes its listeners either way, unlike a callback: a failed attempt is repeated every few seconds.
  const listening = once(server, "listening");
  server.listen(path);
  process.umask(umask);
  await listening;
}

/** False only when the connection is refused, which is what a dead daemon's socket does. A busy daemon's does not. */
function hasListener(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", (error) => resolve(!isNotListening(error)));
  });
}

function listing(directory: string): string {
  return formatCommand(["ls", "-ld", directory]);
}

function cannotOpen(path: string, error: unknown): Failure {
  return new Failure(
    `cannot open the control socket ${path}: ${messageOf(error)}`,
    `check the permissions with: ${listing(dirname(path))}`,
    { cause: error },
  );
}

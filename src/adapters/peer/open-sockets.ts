import { opendirSync, readdirSync, type Dir } from "node:fs";
import { sortNewestFirst } from "./pid-order.ts";
import { readExecutable, readLatestPid, readLink, readStat, readUid } from "./process-files.ts";

/** The process that has a socket open. */
interface SocketHolder {
  pid: number;
  /** The socket's number among the process's open files. */
  descriptor: string;
}

/** Holders by socket, which is spelled as in `/proc/PID/fd`: `socket:[INODE]`. */
export type HolderBySocket = Map<string, SocketHolder>;

/** A socket whose holder is looked for among the processes of one user. */
export interface WantedSocket {
  readonly socket: string;
  readonly uid: number;
  /** False once its holder was found, or need not be any more. */
  readonly isWanted: boolean;
}

/** Options of {@link searchProcess}. */
interface ProcessFiles {
  /** Descriptors to try first. */
  likely?: readonly string[];
  maxFiles?: number;
}

/**
 * Puts the wanted sockets that the process has open into `holders`. Stops when all are found. Yields after each small step.
 * Finds none in a process that has ended or hides its open files.
 */
export function* searchProcess(
  pid: number,
  wanted: ReadonlySet<string>,
  holders: HolderBySocket,
  { likely = [], maxFiles = Infinity }: ProcessFiles = {},
): Generator<void, void> {
  const missing = new Set(wanted);
  let files = 0;
  for (const descriptor of descriptorsOf(pid, likely)) {
    if (files === maxFiles) return;
    files += 1;
    const socket = readLink(`/proc/${pid}/fd/${descriptor}`);
    if (socket !== null && missing.delete(socket)) holders.set(socket, { pid, descriptor });
    if (missing.size === 0) return;
    yield;
  }
}

function* descriptorsOf(pid: number, likely: readonly string[]): Generator<string, void> {
  yield* likely;
  const directory = openDirectory(`/proc/${pid}/fd`);
  if (directory === null) return;
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry.name;
  } catch {
    // The process ended during the search.
  } finally {
    directory.closeSync();
  }
}

/**
 * Searches the processes of the wanted sockets' users, newest first, and calls `onFound` with those that one of them holds
 * and their topmost holders. Yields after each small step; stops when no socket is wanted any more.
 */
export function* searchAll<S extends WantedSocket>(
  sockets: readonly S[],
  onFound: (wanted: readonly S[], holders: HolderBySocket) => void,
): Generator<void, void> {
  for (const pid of newestProcesses()) {
    const wanted = sockets.filter(({ isWanted }) => isWanted);
    if (wanted.length === 0) return;
    yield;
    const uid = readUid(pid);
    // A process that hides its executable also hides its open files, so trying each of them is pointless.
    if (!wanted.some((socket) => socket.uid === uid) || readExecutable(pid) === null) continue;
    const holders: HolderBySocket = new Map();
    yield* searchProcess(pid, new Set(wanted.map(({ socket }) => socket)), holders);
    if (holders.size === 0) continue;
    yield* moveToParents(pid, holders);
    onFound(wanted, holders);
  }
}

/**
 * Replaces the holders, all of them this process, by the topmost of its parents that have the same sockets open: children can
 * inherit a socket and outlive their purpose.
 */
export function* moveToParents(pid: number, holders: HolderBySocket): Generator<void, void> {
  const parent = readStat(pid)?.parent ?? 0;
  const above: HolderBySocket = new Map();
  yield* searchProcess(parent, new Set(holders.keys()), above);
  if (above.size === 0) return;
  yield* moveToParents(parent, above);
  for (const [socket, holder] of above) holders.set(socket, holder);
}

/** Returns the pids of all visible processes, newest first. */
function newestProcesses(): number[] {
  try {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return sortNewestFirst(pids.map(Number), readLatestPid());
  } catch {
    return [];
  }
}

function openDirectory(path: string): Dir | null {
  try {
    return opendirSync(path);
  } catch {
    return null;
  }
}

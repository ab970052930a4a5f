import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { Failure } from "../core/failure.ts";
import { toPrintable } from "../core/text/printable.ts";
import { formatCommand } from "../core/text/shell-words.ts";
import { adviseOnOwnProgram, findOwnProgram, type OwnProgram } from "./port-holder/own-program.ts";
import { acceptsConnectionsTo, listKernelSockets, socketLink } from "./socket-table.ts";

/** Its path on macOS. It is not looked up on the PATH, which may lack /usr/sbin or find another program. */
const LSOF = "/usr/sbin/lsof";
const PS = "/bin/ps";

/** The addresses to which tools connect. */
export const LOOPBACK_ADDRESSES = ["127.0.0.1", "::1"];

/**
 * Returns the failure for a port that is taken: who holds it, if known, and what to do about it. Looks at the open files of all
 * processes, synchronously, which takes tens of milliseconds.
 */
export function portTaken(port: number, cause: unknown): Failure {
  const holder = findHolder(port);
  const hint = orOtherPort(howToFree(port, holder));
  return new Failure(`port ${port} is taken by ${describe(holder)}`, hint, { cause });
}

/**
 * Checks that no program listens on the port while no tollkeeper daemon runs: it would receive what tools send (SECURITY.md
 * A11). Resolves to the failure for such a program, or to null.
 */
export async function checkPortFree(port: number): Promise<Failure | null> {
  if (!(await isPortInUse(port))) return null;
  const holder = findHolder(port);
  const message = `tollkeeper is not running, and its port ${port} is taken by ${describe(holder)}, which receives what tools send`;
  return new Failure(message, orOtherPort(howToFree(port, holder)));
}

/** Resolves to true when a program accepts connections on the port, on either loopback address. */
export async function isPortInUse(port: number): Promise<boolean> {
  const results = await Promise.all(LOOPBACK_ADDRESSES.map((address) => isListening(port, address)));
  return results.includes(true);
}

/**
 * Resolves to true when a program accepts connections there. On Linux the kernel is asked, because a connection would start a
 * service whose sockets systemd holds. launchd holds none for us, so elsewhere it connects, without sending anything.
 */
export function isListening(port: number, address: string): Promise<boolean> {
  if (process.platform !== "linux") return acceptsConnection(port, address);
  return Promise.resolve(
    listKernelSockets().some((socket) => acceptsConnectionsTo(socket, { address, port })),
  );
}

function acceptsConnection(port: number, address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, address);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
}

/** Returns what to do about a port that another program holds, on one of the addresses if none is named. */
export function hintForPort(port: number, address?: string): string {
  return orOtherPort(freePortHint(port, address));
}

/** Returns how to stop the program that holds the port. */
export function freePortHint(port: number, address?: string): string {
  return howToFree(port, findHolder(port, address));
}

/** Returns the failure for a Unix socket on which another program listens: which one, if known, and what to do about it. */
export function socketTaken(path: string): Failure {
  const holder = findSocketHolder(path);
  const message = `the socket ${path} is taken by ${describe(holder)}`;
  const hint =
    holder === null
      ? `find the program with: sudo ${formatCommand(["lsof", path])}; then stop it`
      : howToStop(holder);
  return new Failure(message, `${hint}; or set another "listen.socket" with: tollkeeper config edit`);
}

function findSocketHolder(path: string): PortHolder | null {
  return process.platform === "linux"
    ? findHolderInProc(() => unixSocketLinks(path))
    : findHolderWithLsof([path]);
}

/** Rows of unix(7)'s table end with the inode and, where there is one, the path. */
function unixSocketLinks(path: string): Set<string> {
  const rows = readFileSync("/proc/net/unix", "utf8").split("\n");
  const inodes = rows.filter((row) => row.endsWith(` ${path}`)).map((row) => row.trim().split(/\s+/)[6]);
  return new Set(inodes.map((inode) => socketLink(Number(inode))));
}

function orOtherPort(hint: string): string {
  return `${hint}; or set another "listen.port" with: tollkeeper config edit`;
}

function howToFree(port: number, holder: PortHolder | null): string {
  if (holder === null) return `find the program with: ${lookUp(port)}; then stop it`;
  // Killing the user's systemd would end the session. It listens for a socket unit, which can be stopped.
  if (/(?:^|\/)systemd(?: |$)/.test(holder.command)) {
    return "systemd listens for another unit; find it with: systemctl --user list-sockets; then stop it";
  }
  return howToStop(holder);
}

/** A daemon finishes its open requests when it is told to stop, so no hint says to kill one. */
function howToStop({ pid, own }: PortHolder): string {
  return own === null ? `stop it with: kill ${pid}` : adviseOnOwnProgram(own);
}

function lookUp(port: number): string {
  return process.platform === "linux"
    ? `sudo ss -ltnp 'sport = :${port}'`
    : `sudo ${LSOF} -nP -iTCP:${port} -sTCP:LISTEN`;
}

/** Returns who listens on the port: "pid 4711 (node server.js)", or "another program" where that is unknown. */
export function describeHolder(port: number): string {
  return describe(findHolder(port));
}

function describe(holder: PortHolder | null): string {
  if (holder === null) return "another program";
  const { pid, command, own } = holder;
  return `${own === null ? "" : "another tollkeeper, "}pid ${pid} (${command})`;
}

/** A process that listens on a port. */
interface PortHolder {
  pid: number;
  /** The beginning of its command line, or its name. */
  command: string;
  /** What it is, if it is a program of ours; else null. */
  own: OwnProgram | null;
}

/** Returns null when the holder is another user's process, or has ended. */
function findHolder(port: number, address?: string): PortHolder | null {
  if (process.platform === "linux") {
    const addresses = address === undefined ? LOOPBACK_ADDRESSES : [address];
    return findHolderInProc(() => listeningSocketLinks(port, addresses));
  }
  const host = address === undefined ? "" : `@${address.includes(":") ? `[${address}]` : address}`;
  return findHolderWithLsof([`-iTCP${host}:${port}`, "-sTCP:LISTEN"]);
}

function findHolderInProc(listLinks: () => Set<string>): PortHolder | null {
  try {
    const links = listLinks();
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      if (!hasSocket(pid, links)) continue;
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
      const command = toPrintable(words.join(" ").trim().slice(0, 80));
      return { pid: Number(pid), command, own: findOwnProgram(Number(pid), words) };
    }
  } catch {
    // The holder is a detail: the port is taken anyway.
  }
  return null;
}

function listeningSocketLinks(port: number, addresses: readonly string[]): Set<string> {
  const listening = listKernelSockets().filter((socket) =>
    addresses.some((address) => acceptsConnectionsTo(socket, { address, port })),
  );
  return new Set(listening.map(({ inode }) => socketLink(inode)));
}

function hasSocket(pid: string, links: Set<string>): boolean {
  const directory = `/proc/${pid}/fd`;
  return (orNull(() => readdirSync(directory)) ?? []).some((fd) => {
    // A file that was closed meanwhile, such as the directory itself where the process is ours, says nothing about the others.
    const link = orNull(() => readlinkSync(`${directory}/${fd}`));
    return link !== null && links.has(link);
  });
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function findHolderWithLsof(selection: readonly string[]): PortHolder | null {
  try {
    const out = execFileSync(LSOF, ["-nP", "-Fpc", ...selection], {
      encoding: "utf8",
      timeout: 2_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const pid = /^p(\d+)/m.exec(out)?.[1];
    const command = /^c(.+)/m.exec(out)?.[1];
    if (pid === undefined) return null;
    return { pid: Number(pid), command: command ?? "?", own: findOwnProgram(Number(pid), wordsOf(pid)) };
  } catch {
    return null;
  }
}

/** The words of a command line as macOS shows it; one with spaces in its paths is not told apart. */
function wordsOf(pid: string): string[] {
  const shown = orNull(() =>
    execFileSync(PS, ["-o", "args=", "-p", pid], { encoding: "utf8", timeout: 2_000 }),
  );
  return (shown ?? "").trim().split(" ");
}

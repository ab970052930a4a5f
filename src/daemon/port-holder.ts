import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { Failure } from "../core/failure.ts";
import { printable } from "../core/text/printable.ts";
import { listKernelSockets } from "../cli/kernel-sockets.ts";

/** Those on which tools look for tollkeeper. */
export const LOOPBACK_ADDRESSES = ["127.0.0.1", "::1"];

/** The failure for a port that is taken: who holds it, as far as the system tells, and what to type next. */
export function portTaken(port: number, cause: unknown): Failure {
  return new Failure(`port ${port} is taken by ${holderOf(port)}`, hintFor(port), { cause });
}

/**
 * The failure when no daemon of ours runs but somebody listens on its port, and gets what tools send there
 * (facts/threats.md A11); null when nobody does. Connects to look, and sends nothing.
 */
export async function portUsurped(port: number): Promise<Failure | null> {
  if (!(await isAnyoneListening(port))) return null;
  const message = `tollkeeper is not running, and its port ${port} is taken by ${holderOf(port)}, who gets what tools send`;
  return new Failure(message, hintFor(port));
}

/** Does anybody accept connections on the port, on either loopback address? */
export async function isAnyoneListening(port: number): Promise<boolean> {
  const answers = await Promise.all(LOOPBACK_ADDRESSES.map((address) => isListening(port, address)));
  return answers.includes(true);
}

/** Does anybody accept connections there? Connects to look, and sends nothing. */
export function isListening(port: number, address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, address);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
}

/** What to type when somebody else has the port. */
export function hintFor(port: number): string {
  const look =
    process.platform === "linux" ? `ss -ltnp 'sport = :${port}'` : `lsof -nP -iTCP:${port} -sTCP:LISTEN`;
  return `see who listens with: ${look}; then stop it, or set another "listen.port" with: tollkeeper config edit`;
}

/** Who listens on the port, as far as the system tells: "pid 4711 (node server.js)", or "another program". */
export function holderOf(port: number): string {
  const holder = process.platform === "linux" ? linuxHolder(port) : lsofHolder(port);
  return holder ?? "another program";
}

/** "pid 4711 (node server.js)" of the listening process; null when it is another user's, or gone. */
function linuxHolder(port: number): string | null {
  try {
    const inodes = listeningInodes(port);
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      if (!holdsSocket(pid, inodes)) continue;
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return `pid ${pid} (${printable(commandLine.slice(0, 80))})`;
    }
  } catch {
    // Less is told then; that the port is taken still is.
  }
  return null;
}

function listeningInodes(port: number): Set<string> {
  const listening = listKernelSockets().filter((socket) => socket.isListening && socket.localPort === port);
  return new Set(listening.map(({ inode }) => `socket:[${inode}]`));
}

function holdsSocket(pid: string, inodes: Set<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => inodes.has(readlinkSync(`/proc/${pid}/fd/${fd}`)));
  } catch {
    return false;
  }
}

function lsofHolder(port: number): string | null {
  try {
    const out = execFileSync("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"], {
      encoding: "utf8",
      timeout: 2_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const pid = /^p(\d+)/m.exec(out)?.[1];
    const command = /^c(.+)/m.exec(out)?.[1];
    return pid === undefined ? null : `pid ${pid} (${command ?? "?"})`;
  } catch {
    return null;
  }
}

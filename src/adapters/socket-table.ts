import { existsSync, readFileSync } from "node:fs";

// The one place that knows the kernel's tables of TCP sockets (Linux, proc(5)). Other adapters import it: peer, which
// searches the tables for each connection, and port-holder.

/** One end of a TCP connection. */
export interface Endpoint {
  address: string;
  port: number;
}

/** One row of a table. */
export interface KernelSocket {
  /** As the kernel spells it; see {@link acceptsConnectionsTo}. */
  localAddress: string;
  localPort: number;
  remotePort: number;
  isRemoteLoopback: boolean;
  isListening: boolean;
  uid: number;
  /** {@link NO_INODE} when no process holds the socket any more; the row's uid is then root's. */
  inode: number;
}

/** The inode of a socket that its process has closed and that the kernel still has. */
export const NO_INODE = 0;

/** The tables, in the order in which to search them: most clients are in the first. */
export const SOCKET_TABLES = ["/proc/net/tcp", "/proc/net/tcp6"] as const;

const LISTEN_STATE = "0A";

/**
 * Returns the columns `local_address rem_address` of the client's own row in each of the tables; null where it has none. A
 * v6 socket that is connected to a v4 address is in the second table.
 */
export function spellRows(client: Endpoint, server: Endpoint): [string | null, string] {
  const spell = (spellAddress: (address: string) => string) =>
    `${spellAddress(client.address)}:${spellPort(client.port)} ${spellAddress(server.address)}:${spellPort(server.port)}`;
  return [isV6(client.address) ? null : spell(spellV4), spell(spellV6)];
}

/**
 * Returns every TCP socket in this network namespace. Throws the system's error where the tables cannot be read. Reads them
 * synchronously and whole: for commands, not for requests.
 */
export function listKernelSockets(): KernelSocket[] {
  const [v4, v6] = SOCKET_TABLES;
  // A system without IPv6 has no second table.
  return [v4, ...(existsSync(v6) ? [v6] : [])].flatMap((path) => {
    const [, ...rows] = readFileSync(path, "latin1").trimEnd().split("\n");
    return rows.map(parseSocketRow);
  });
}

/** Parses a row: `  0: 0100007F:A3B4 0100007F:21CF 01 00000000:00000000 00:00000000 00000000  1000        0 12345 ...`. */
export function parseSocketRow(row: string): KernelSocket {
  const [, local = "", remote = "", state, , , , uid, , inode] = row.trim().split(/\s+/);
  const [localAddress = "", localPort = ""] = local.split(":");
  const [remoteAddress = "", remotePort = ""] = remote.split(":");
  return {
    localAddress,
    localPort: Number.parseInt(localPort, 16),
    remotePort: Number.parseInt(remotePort, 16),
    isRemoteLoopback: LOOPBACK_SPELLINGS.has(remoteAddress),
    isListening: state === LISTEN_STATE,
    uid: Number(uid),
    inode: Number(inode),
  };
}

/** True for a socket that listens on the port at this loopback address, or at every address of the machine. */
export function acceptsConnectionsTo(socket: KernelSocket, { address, port }: Endpoint): boolean {
  if (!socket.isListening || socket.localPort !== port) return false;
  const spellings = isV6(address)
    ? [spellV6(address)]
    : [spellV4(address), spellV6(address), spellV4("0.0.0.0")];
  // A socket on all v6 addresses takes v4 connections too, unless its owner said otherwise, which the table does not show.
  return [...spellings, EVERY_ADDRESS].includes(socket.localAddress);
}

/** Returns the target of the symbolic link in `/proc/PID/fd` that stands for the socket with this inode. */
export function socketLink(inode: number): string {
  return `socket:[${inode}]`;
}

// An address is written as groups of 32 bits in host byte order, which is little-endian on all supported systems.

function spellV4(address: string): string {
  const bytes = splitV4(address).map((byte) => byte.toString(16).padStart(2, "0"));
  return bytes.toReversed().join("").toUpperCase();
}

function spellV6(address: string): string {
  return isV6(address) ? "00000000000000000000000001000000" : `0000000000000000FFFF0000${spellV4(address)}`;
}

function spellPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** Returns the four bytes of a v4 address, which may be spelled as a v6 address: `::ffff:127.0.0.1`. */
export function splitV4(address: string): number[] {
  return address
    .replace(/^::ffff:/, "")
    .split(".")
    .map(Number);
}

/** On loopback, `::1` is the only v6 address; `::ffff:127.0.0.1` is a v4 address. */
export function isV6(address: string): boolean {
  return address === "::1";
}

/** `::`. */
const EVERY_ADDRESS = "0".repeat(32);

const LOOPBACK_SPELLINGS = new Set([spellV4("127.0.0.1"), spellV6("127.0.0.1"), spellV6("::1")]);

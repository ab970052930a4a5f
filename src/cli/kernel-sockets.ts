import { existsSync, readFileSync } from "node:fs";

/** One row of the kernel's tables of TCP sockets (Linux, proc(5)). */
export interface KernelSocket {
  /** Address and port of each end, as the table spells them: `0100007F:21CF`. */
  local: string;
  remote: string;
  localPort: number;
  remotePort: number;
  isListening: boolean;
  /** The user whose socket it is. */
  uid: number;
  /** `0` when no process holds it any more. */
  inode: string;
}

const LISTEN_STATE = "0A";

/** Every TCP socket of this machine, or of this network namespace of it. Throws the system's error where it does not tell. */
export function listKernelSockets(): KernelSocket[] {
  // Without IPv6 there is no second one.
  return ["/proc/net/tcp", ...["/proc/net/tcp6"].filter((path) => existsSync(path))].flatMap(readTable);
}

function readTable(path: string): KernelSocket[] {
  const [, ...rows] = readFileSync(path, "latin1").trimEnd().split("\n");
  return rows.map((row) => {
    const [, local = "", remote = "", state, , , , uid, , inode = ""] = row.trim().split(/\s+/);
    return {
      local,
      remote,
      localPort: portOf(local),
      remotePort: portOf(remote),
      isListening: state === LISTEN_STATE,
      uid: Number(uid),
      inode,
    };
  });
}

function portOf(endpoint: string): number {
  return Number.parseInt(endpoint.slice(endpoint.indexOf(":") + 1), 16);
}

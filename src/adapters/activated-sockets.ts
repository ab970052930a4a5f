import { readFileSync, readlinkSync } from "node:fs";

/** The first inherited descriptor (sd_listen_fds(3), SD_LISTEN_FDS_START). */
const FIRST_DESCRIPTOR = 3;

/** The protocol of sock_diag(7), in the column `Eth` of the kernel's table of netlink sockets. */
const NETLINK_SOCK_DIAG = "4";

/** The sockets that a service manager opened for this process. */
export interface ActivatedSockets {
  /** Descriptors of sockets that listen. */
  listening: readonly number[];
  /** The descriptor of a netlink socket of the protocol NETLINK_SOCK_DIAG; null when there is none. */
  diagnostics: number | null;
}

/** Those of a process that was started without a service manager. */
export const NO_SOCKETS: ActivatedSockets = { listening: [], diagnostics: null };

/**
 * Returns the sockets that a service manager opened for this process (sd_listen_fds(3)). Removes the variables that announce them from
 * `env`, since child processes must not see them.
 */
export function takeActivatedSockets(env: NodeJS.ProcessEnv, pid: number): ActivatedSockets {
  const isForThisProcess = env["LISTEN_PID"] === String(pid);
  const count = isForThisProcess ? Number(env["LISTEN_FDS"]) : 0;
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete env[name];
  if (!Number.isSafeInteger(count) || count === 0) return NO_SOCKETS;
  const descriptors = Array.from({ length: count }, (_, index) => FIRST_DESCRIPTOR + index);
  const inodes = findDiagnostics();
  const isDiagnostics = (descriptor: number) => inodes.has(inodeOf(descriptor));
  return {
    listening: descriptors.filter((descriptor) => !isDiagnostics(descriptor)),
    diagnostics: descriptors.find(isDiagnostics) ?? null,
  };
}

/** Returns the inodes of the bound sockets of that protocol: `sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode`. */
function findDiagnostics(): Set<string> {
  try {
    const [, ...rows] = readFileSync("/proc/self/net/netlink", "latin1").trimEnd().split("\n");
    const all = rows.map((row) => row.trim().split(/\s+/));
    return new Set(
      all.flatMap(([, protocol, , , , , , , , inode = ""]) =>
        protocol === NETLINK_SOCK_DIAG ? [inode] : [],
      ),
    );
  } catch {
    // Not Linux, or a container that hides the table.
    return new Set();
  }
}

function inodeOf(descriptor: number): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[1] ?? "";
  } catch {
    return "";
  }
}

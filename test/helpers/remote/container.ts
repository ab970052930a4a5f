import { execFileSync } from "node:child_process";

/** Runs a command in mount, network, process, IPC and host name namespaces of its own. */
const UNSHARE = [
  "unshare",
  "--mount",
  "--net",
  "--ipc",
  "--uts",
  "--pid",
  "--fork",
  "--mount-proc",
  "--kill-child",
];

/** The reason why no namespaces can be used here, for `test(..., { skip })`; false when they can. */
export const noNamespaces: string | false = reasonToSkip();

function reasonToSkip(): string | false {
  if (process.platform !== "linux") return "needs Linux: its namespaces";
  if (process.getuid?.() !== 0) return "needs root, for namespaces and mounts";
  try {
    execFileSync("unshare", [...UNSHARE.slice(1), "ip", "link", "set", "lo", "up"], { stdio: "ignore" });
    return false;
  } catch {
    return "unshare and ip do not work here (apt-get install util-linux iproute2), or namespaces are forbidden";
  }
}

/** What a container sees of the host besides its programs. */
export interface ContainerOptions {
  /** The directory of the socket, seen read-only at `target`, which exists. */
  mount: { source: string; target: string };
  /** Directories that it does not see. */
  hidden: readonly string[];
}

/**
 * Returns the command line that runs a shell script as a container would: with a loopback of its own and no other network, and with its
 * own processes and mounts.
 */
export function inContainer({ mount, hidden }: ContainerOptions, script: string): string[] {
  const steps = [
    "set -e",
    "ip link set lo up",
    'mount --bind "$1" "$2"',
    'mount -o remount,bind,ro "$2"',
    "shift 2",
    'for path in "$@"; do mount -t tmpfs none "$path"; done',
    script,
  ];
  return [...UNSHARE, "sh", "-c", steps.join("\n"), "sh", mount.source, mount.target, ...hidden];
}

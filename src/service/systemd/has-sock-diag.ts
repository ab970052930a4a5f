import { readFileSync } from "node:fs";

/** The row of the kernel's own socket of the protocol NETLINK_SOCK_DIAG: `sk Eth Pid Groups ...` with `Eth` 4 and `Pid` 0. */
const KERNEL_SOCKET = /^\S+\s+4\s+0\s/m;

/** True where systemd can open the socket of `ListenNetlink=inet-diag`: where the kernel answers questions about sockets (sock_diag(7)). */
export function hasSocketDiagnostics(): boolean {
  try {
    return KERNEL_SOCKET.test(readFileSync("/proc/net/netlink", "latin1"));
  } catch {
    return false;
  }
}

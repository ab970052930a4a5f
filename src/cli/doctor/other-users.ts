import { defaultConfig, type Access } from "../../core/config/config.ts";
import { countOf } from "../terminal/count-of.ts";
import { listKernelSockets, type KernelSocket } from "../kernel-sockets.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "./finding.ts";
import { portOf } from "../listening-port.ts";

/** `127.0.0.1`, `::1` and `::ffff:127.0.0.1`, as the kernel's tables spell them on little-endian machines. */
const LOOPBACK = /^(?:0100007F|00000000000000000000000001000000|0000000000000000FFFF00000100007F):/;

/** A process holds it: the kernel itself shows what nobody holds any more as root's. */
const NO_INODE = "0";

/** Does another user of this machine use the port, or hold it (facts/threats.md A8)? */
export const otherUsersCheck: Check = {
  id: "other-users",
  title: "other users",
  async look(evidence) {
    const { status } = await evidence.daemon();
    const config = await evidence.config();
    const { mode, peerUid } = status?.access ?? config?.access ?? defaultConfig.access;
    const self = process.getuid?.();
    if (process.platform !== "linux" || self === undefined) return [judgeUntold(mode)];
    const port = status === null ? config?.listen.port : portOf(status);
    if (port === undefined || port === 0) return [skipped("not looked at; no port is known")];
    const findings = judgeSockets(listKernelSockets(), port, self, peerUid);
    const unasked = peerUid.length > 0 ? " without being listed" : "";
    return findings.length > 0 ? findings : [ok(`none holds port ${port}, or is connected to it${unasked}`)];
  },
};

/** Where the system does not tell users apart, a local token does. */
export function judgeUntold(mode: Access["mode"]): Finding {
  const untold = "this system does not tell whose connections there are";
  if (mode === "token") return ok(`${untold}, and none is served without a local token`);
  return skipped(
    `${untold}; any user of it may use the port, until "access": "token" asks for a local token`,
  );
}

/** What the sockets of other users, root's aside, have to do with the port; those in `peerUid` may connect. */
export function judgeSockets(
  sockets: readonly KernelSocket[],
  port: number,
  self: number,
  peerUid: readonly number[],
): Finding[] {
  const theirs = sockets.filter(({ uid, inode }) => uid !== self && uid !== 0 && inode !== NO_INODE);
  const holders = theirs.filter((socket) => socket.isListening && socket.localPort === port);
  const clients = theirs.filter(
    ({ uid, remote, remotePort }) => remotePort === port && LOOPBACK.test(remote) && !peerUid.includes(uid),
  );
  return [
    ...[...countByUser(holders).keys()].map((uid) =>
      failure(`user ${uid} listens on port ${port}`, `sudo ss -ltnp 'sport = :${port}'`),
    ),
    ...[...countByUser(clients)].map(([uid, count]) => {
      const what = `user ${uid} has ${countOf(count, "connection")} to port ${port}; their requests are refused`;
      return warning(what, `sudo ss -tnp 'dport = :${port}'`);
    }),
  ];
}

function countByUser(sockets: readonly KernelSocket[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { uid } of sockets) counts.set(uid, (counts.get(uid) ?? 0) + 1);
  return counts;
}

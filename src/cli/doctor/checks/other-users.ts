import type { Evidence } from "../evidence.ts";
import { defaultConfig, type Access } from "../../../core/config/config.ts";
import { pluralize } from "../../terminal/format.ts";
import { listKernelSockets, NO_INODE, type KernelSocket } from "../../../adapters/socket-table.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "../../../check/check.ts";
import { listeningPort } from "../../../daemon/running-daemon.ts";

/** Checks that no other user of this machine listens on the port or is connected to it (SECURITY.md A8). */
export const otherUsersCheck: Check<Evidence> = {
  id: "other-users",
  title: "other users",
  async run(evidence) {
    const { status } = await evidence.daemon();
    const config = await evidence.config();
    const { mode, peerUid } = status?.access ?? config?.access ?? defaultConfig.access;
    const self = process.getuid?.();
    if (process.platform !== "linux" || self === undefined) return [unknownUsersFinding(mode)];
    const port = status === null ? config?.listen.port : listeningPort(status);
    if (port === undefined || port === 0) return [skipped("not checked: no port is known")];
    const findings = socketFindings(listKernelSockets(), port, self, peerUid);
    const exception = peerUid.length > 0 ? " without being listed" : "";
    return findings.length > 0
      ? findings
      : [ok(`no other user holds port ${port} or is connected to it${exception}`)];
  },
};

/** Returns the finding for systems that do not report socket owners, where only a local token keeps other users out. */
export function unknownUsersFinding(mode: Access["mode"]): Finding {
  const unknown = "this system cannot tell who owns a connection";
  if (mode === "token") return ok(`${unknown}; every request needs a local token`);
  return skipped(`${unknown}; any user of this machine can use the port unless "access": "token" is set`);
}

/** Reports sockets of other users (except root) that listen on the port or connect to it. Users in `peerUid` may connect. */
export function socketFindings(
  sockets: readonly KernelSocket[],
  port: number,
  self: number,
  peerUid: readonly number[],
): Finding[] {
  const theirs = sockets.filter(({ uid, inode }) => uid !== self && uid !== 0 && inode !== NO_INODE);
  const holders = theirs.filter((socket) => socket.isListening && socket.localPort === port);
  const clients = theirs.filter(
    ({ uid, isRemoteLoopback, remotePort }) =>
      remotePort === port && isRemoteLoopback && !peerUid.includes(uid),
  );
  return [
    ...[...countByUser(holders).keys()].map((uid) =>
      failure(`user ${uid} listens on port ${port}`, `sudo ss -ltnp 'sport = :${port}'`),
    ),
    ...[...countByUser(clients)].map(([uid, count]) => {
      const what = `user ${uid} has ${pluralize(count, "connection")} to port ${port}; their requests are refused`;
      return warning(what, `sudo ss -tnp 'dport = :${port}'`);
    }),
  ];
}

function countByUser(sockets: readonly KernelSocket[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { uid } of sockets) counts.set(uid, (counts.get(uid) ?? 0) + 1);
  return counts;
}

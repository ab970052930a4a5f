import { join } from "node:path";
import type { TestContext } from "node:test";
import { startDaemon, type Daemon, type DaemonOptions } from "../daemon/daemon.ts";
import { scratchDirectory } from "../process/scratch-directory.ts";

/** Starts a daemon that also listens on a Unix socket, in a directory that it creates. */
export async function startSocketDaemon(
  t: TestContext,
  config: object = {},
  options: Omit<DaemonOptions, "config"> = {},
): Promise<{ daemon: Daemon; socket: string; directory: string }> {
  const directory = join(scratchDirectory(t), "sockets");
  const socket = join(directory, "tollkeeper.sock");
  const daemon = await startDaemon(t, { ...options, config: { ...config, listen: { socket } } });
  return { daemon, socket, directory };
}

// Many connections at once, while the daemon's event loop is busy: all of them wait in the accept queue, and none has to try again.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type NetConnectOpts } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

const CONNECTIONS = 1_000;

/** The kernel shortens the queue to this. */
const skip = longestQueue() < CONNECTIONS && `needs Linux with net.core.somaxconn of at least ${CONNECTIONS}`;

function longestQueue(): number {
  try {
    return Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));
  } catch {
    return 0;
  }
}

/** Connects to a daemon that accepts nothing meanwhile. Rejects when a connection is refused. */
async function connectWhileStopped(t: TestContext, { pid }: Daemon, target: NetConnectOpts): Promise<void> {
  process.kill(pid, "SIGSTOP");
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(target));
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  // The daemon ends before they do.
  for (const socket of sockets) socket.on("error", () => {});
  process.kill(pid, "SIGCONT");
}

test(
  "a thousand simultaneous connections succeed while the daemon accepts none",
  { skip, timeout: 300_000 },
  async (t) => {
    const daemon = await startDaemon(t);
    await connectWhileStopped(t, daemon, { port: daemon.port, host: "127.0.0.1" });
  },
);

test(
  "a thousand simultaneous connections to the Unix socket succeed while the daemon accepts none",
  { skip, timeout: 300_000 },
  async (t) => {
    const socket = join(scratchDirectory(t), "socket", "tollkeeper.sock");
    const daemon = await startDaemon(t, { config: { listen: { socket } } });
    await connectWhileStopped(t, daemon, { path: socket });
    assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
  },
);

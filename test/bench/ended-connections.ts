import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const SOCKET_COUNTS = "/proc/net/sockstat";
/** Connections that are opened at once: fewer than any listen backlog. */
const WAVE = 200;
/** Linux forgets an ended connection after 60 s. */
const FORGOTTEN_MS = 65_000;
const LOOK_AGAIN_MS = 500;

/** Counts the ended connections (TIME_WAIT) in the kernel's table. NaN where the system does not tell. */
export function countEnded(): number {
  try {
    return Number(/^TCP:.* tw (\d+)/m.exec(readFileSync(SOCKET_COUNTS, "latin1"))?.[1]);
  } catch {
    return Number.NaN;
  }
}

/** Waits until there are at most so many ended connections, and not longer than the kernel remembers one. */
export async function waitUntilForgotten(atMost: number): Promise<void> {
  const giveUpAt = performance.now() + FORGOTTEN_MS;
  while (countEnded() > atMost && performance.now() < giveUpAt) await delay(LOOK_AGAIN_MS);
}

/** Ends connections until there are at least so many in the table. */
export async function fillWithEnded(atLeast: number): Promise<void> {
  const server = createServer((socket) => socket.on("error", () => {}).resume());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (let missing = atLeast - countEnded(); missing > 0; missing = atLeast - countEnded()) {
    await Promise.all(Array.from({ length: Math.min(WAVE, missing) }, () => endOne(port)));
  }
  server.close();
  await once(server, "close");
}

/** Opens a connection and closes it first: whoever closes first has the row. */
async function endOne(port: number): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  socket.end().resume();
  await once(socket, "close");
}

import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";

/** An upstream of bare connections: what it reads and says, and when, is the test's affair. */
export interface TcpUpstream {
  /** `http://127.0.0.1:PORT/v1` */
  baseUrl: string;
  port: number;
  server: Server;
  /** The first connection, once it is there. */
  first: Promise<Socket>;
}

/** Starts one that ends with the test. Errors of its connections are part of the play, and not reported. */
export async function startTcpUpstream(
  t: TestContext,
  onConnection: (socket: Socket) => void,
): Promise<TcpUpstream> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    t.after(() => socket.destroy());
    onConnection(socket);
  });
  const first = once(server, "connection").then(([socket]) => socket as Socket);
  server.listen(0, "127.0.0.1");
  t.after(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, port, server, first };
}

/** Listens with room for one connection that waits, and never accepts any: its thread sleeps. */
const FULL_LISTENER = `
const { workerData, parentPort } = require("node:worker_threads");
const server = require("node:net").createServer();
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(workerData, 0, 0);
});`;

/** Port of a listener whose queue is full, so that a connection to it neither comes to be nor fails. Ends with the test. */
export async function startFullListener(t: TestContext): Promise<number> {
  const workerData = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(FULL_LISTENER, { eval: true, workerData });
  t.after(() => worker.terminate());
  const [port] = (await once(worker, "message")) as [number];
  // Linux lets one more wait than it is told to.
  const waiting = [connectTo(t, port), connectTo(t, port)];
  await Promise.all(waiting.map((socket) => once(socket, "connect")));
  return port;
}

function connectTo(t: TestContext, port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  return socket;
}

/**
 * Resolves when `progress` has not changed for many turns of the event loop. For parties that all live in this process:
 * loopback delivers at once, so what does not move any more is held up.
 */
export async function waitUntilStill(progress: () => number): Promise<void> {
  let [last, turns] = [progress(), 0];
  while (turns < 200) {
    await setImmediate();
    turns = progress() === last ? turns + 1 : 0;
    last = progress();
  }
}

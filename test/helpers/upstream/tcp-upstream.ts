import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { listenOnLoopback } from "./loopback-port.ts";

/** An upstream that only accepts connections; the test does all reading and writing. */
export interface TcpUpstream {
  /** `http://127.0.0.1:PORT/v1` */
  baseUrl: string;
  port: number;
  server: Server;
  /** Resolves with the first connection. */
  first: Promise<Socket>;
}

/** Starts a TCP upstream that ends with the test. Errors of its connections are ignored. */
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
  const port = await listenOnLoopback(server);
  t.after(() => void server.close());
  return { baseUrl: `http://127.0.0.1:${port}/v1`, port, server, first };
}

/** Listens with a backlog of one connection and accepts none: its thread sleeps. */
const FULL_LISTENER = `
const { workerData, parentPort } = require("node:worker_threads");
const server = require("node:net").createServer();
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(workerData, 0, 0);
});`;

/** Starts a listener with a full backlog and returns its port: connecting neither succeeds nor fails. Ends with the test. */
export async function startFullListener(t: TestContext): Promise<number> {
  const workerData = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(FULL_LISTENER, { eval: true, workerData });
  t.after(() => worker.terminate());
  const [port] = (await once(worker, "message")) as [number];
  // Linux queues one connection more than the backlog.
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
 * Resolves when `progress` has not changed for many turns of the event loop. Only for clients and servers that are all
 * in this process: loopback delivers at once, so lack of progress means that they are blocked.
 */
export async function waitUntilStill(progress: () => number): Promise<void> {
  let [last, turns] = [progress(), 0];
  while (turns < 200) {
    await setImmediate();
    turns = progress() === last ? turns + 1 : 0;
    last = progress();
  }
}

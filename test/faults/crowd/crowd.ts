import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Daemon } from "../../helpers/daemon/daemon.ts";
import { beginRequest } from "../../helpers/client/raw-client.ts";
import { residentBytes } from "../../helpers/process/process-metrics.ts";
import { MESSAGE, sendJson, SSE } from "../../helpers/upstream/scripted-upstream.ts";

const MIB = 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, "x");
const UPLOAD = Buffer.alloc(8 * MIB, " ");

/** So often in a row the daemon must hold the same before its crowd counts as settled. */
const STILL = 5;
const LOOK_AGAIN_MS = 100;

const ENDLESS = "/v1/messages";
const UNREAD = "/v1/responses";
const SHORT = "/v1/messages/count_tokens";

/** Starts an upstream whose responses to one route never end, that reads no upload to another, and is quick on a third. */
export async function startCrowdUpstream(t: TestContext): Promise<string> {
  const server = createServer((req, res) => {
    if (req.url === UNREAD) return;
    req.resume();
    if (req.url === ENDLESS) respondForEver(res);
    else sendJson(res, MESSAGE);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function respondForEver(res: ServerResponse): void {
  const write = () => {
    while (!res.destroyed && res.write(CHUNK));
  };
  res.writeHead(200, SSE).on("drain", write);
  write();
}

/** What nobody reads: the responses of the clients, or their uploads. */
type CrowdKind = "responses" | "uploads";

/** Opens so many stuck exchanges, and waits until the daemon holds no more for them. Returns a function that ends them. */
export async function openCrowd(
  daemon: Daemon,
  kind: CrowdKind,
  count: number,
): Promise<() => Promise<void>> {
  const { port } = daemon;
  const sockets: Socket[] = [];
  const head =
    kind === "uploads"
      ? beginRequest(port, `Content-Length: ${UPLOAD.length}`).replace(ENDLESS, UNREAD)
      : `${beginRequest(port, "Content-Length: 2")}{}`;
  while (sockets.length < count) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    sockets.push(socket.pause());
    await once(socket, "connect");
    socket.write(head);
    if (kind === "uploads") socket.write(UPLOAD);
  }
  await untilSettled(daemon, count);
  return async () => {
    for (const socket of sockets) socket.destroy();
    await untilSettled(daemon, 0);
  };
}

/** Waits until the daemon has so many open exchanges, and what it holds for them stays the same. */
async function untilSettled(daemon: Daemon, openExchanges: number): Promise<void> {
  for (let [last, still] = [-1, 0]; still < STILL;) {
    await delay(LOOK_AGAIN_MS);
    // A daemon that has a gigabyte to move may be late with its status.
    const status = await daemon.status().catch(() => null);
    const isSame = status?.bufferedBytes === last && status.openExchanges === openExchanges;
    still = isSame ? still + 1 : 0;
    last = status?.bufferedBytes ?? -1;
  }
}

/** What the daemon needs and how quickly it serves those who read. */
export interface CrowdSample {
  residentBytes: number;
  bufferedBytes: number;
  /** Of each request, from sending it to the end of its response. In ascending order. */
  timesMs: number[];
}

/** Lets some clients send so many short requests each, one after another, and measures them and the daemon. */
export async function measureBeside(daemon: Daemon, clients: number, each: number): Promise<CrowdSample> {
  const agent = new Agent({ keepAlive: true });
  const timesMs: number[] = [];
  const run = async () => {
    for (let sent = 0; sent < each; sent += 1) timesMs.push(await timeRequest(daemon, agent));
  };
  await Promise.all(Array.from({ length: clients }, run));
  agent.destroy();
  const { bufferedBytes } = await daemon.status();
  return {
    residentBytes: residentBytes(daemon.pid),
    bufferedBytes,
    timesMs: timesMs.toSorted((one, other) => one - other),
  };
}

async function timeRequest({ port }: Daemon, agent: Agent): Promise<number> {
  const sentAt = performance.now();
  const headers = { "content-type": "application/json" };
  const asking = request({ port, host: "127.0.0.1", path: SHORT, method: "POST", headers, agent }).end("{}");
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  assert.equal(response.statusCode, 200);
  await once(response.resume(), "end");
  return performance.now() - sentAt;
}

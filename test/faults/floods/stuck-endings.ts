import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import { PROCESS_SIGNATURES } from "../../../src/tools/all.ts";
import { beginRequest, rawClient, rawRequest } from "../../helpers/client/raw-client.ts";
import { startBlockedGate } from "../../helpers/gate/blocked-gate.ts";
import { startGateWithHeldUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { startGate, withLimits, type GateOptions } from "../../helpers/gate/gate.ts";
import { SSE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { waitUntilStill } from "../../helpers/upstream/tcp-upstream.ts";
import { CHUNK, MIB, type Scenario } from "./scenario.ts";

/** An exchange in which bytes wait for the client or for the upstream. */
interface Stuck {
  gate: Awaited<ReturnType<typeof startBlockedGate>>["gate"];
  /** The client's end of its connection. It is paused. */
  client: Socket;
  /** The upstream's end. */
  req: IncomingMessage;
  res: ServerResponse;
}

/** Opens a response that is longer than what everybody between can hold. */
async function openStuckResponse(t: TestContext): Promise<Stuck> {
  const upstream = await startUpstream(t, (_seen, res) => {
    const write = () => {
      while (!res.destroyed && res.write(CHUNK));
    };
    res.writeHead(200, SSE).on("drain", write);
    write();
  });
  const requested = once(upstream.server, "request") as Promise<[IncomingMessage, ServerResponse]>;
  const gate = await startGate(t, upstream.baseUrl, { config: { abort: { graceMs: 20 } } });
  const { socket: client } = await rawClient(t, gate.port);
  client.pause().write(rawRequest(gate.port));
  const [req, res] = await requested;
  await waitUntilStill(() => gate.gate.bufferedBytes + client.bytesRead);
  return { gate: gate.gate, client, req, res };
}

/** An exchange that has ended, with bytes that wait for the client. */
type Unsent = Pick<Stuck, "gate" | "client">;

/** Opens a response that its client does not read, and ends it as soon as a part of it has to wait. */
async function openUnsentResponse(t: TestContext): Promise<Unsent> {
  const { held, gate } = await startGateWithHeldUpstream(t);
  const { socket: client } = await rawClient(t, gate.port);
  client.pause().write(rawRequest(gate.port));
  const response = await held;
  const send = async (bytes: number) => {
    response.write(CHUNK.subarray(0, bytes));
    await waitUntilStill(() => gate.gate.bufferedBytes + response.writableLength);
  };
  while (gate.gate.bufferedBytes === 0) await send(MIB / 16);
  await send(10);
  await send(10);
  response.end();
  await gate.ledger.only();
  return { gate: gate.gate, client };
}

/** Opens a compressed error to a client that has something else to read first. */
async function openUnsentError(t: TestContext): Promise<Unsent> {
  const upstream = await startUpstream(t, (_seen, res) =>
    res.writeHead(500, { "content-encoding": "gzip" }).end(gzipSync("it failed")),
  );
  const { gate, client, port, ledger } = await startBlockedGate(t, upstream.baseUrl);
  client.write(rawRequest(port));
  await ledger.only();
  return { gate, client };
}

/** Opens an upload that the upstream does not read. */
async function openStuckUpload(t: TestContext, options: GateOptions = {}): Promise<Stuck> {
  const upstream = createServer(() => {});
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  t.after(() => {
    upstream.close();
    upstream.closeAllConnections();
  });
  const { port } = upstream.address() as AddressInfo;
  const requested = once(upstream, "request") as Promise<[IncomingMessage, ServerResponse]>;
  const peers = createPeerInfo(PROCESS_SIGNATURES);
  const gate = await startGate(t, `http://127.0.0.1:${port}/v1`, { peers, ...options });
  const { socket: client } = await rawClient(t, gate.port);
  client.write(beginRequest(gate.port, `Content-Length: ${32 * MIB}`));
  for (let sent = 0; sent < 32; sent += 1) client.write(CHUNK);
  const [req, res] = await requested;
  req.on("error", () => {});
  await waitUntilStill(() => gate.gate.bufferedBytes + client.bytesWritten - client.writableLength);
  return { gate: gate.gate, client, req, res };
}

/** How an exchange ends while bytes wait in it. */
const ENDINGS: [what: string, open: (t: TestContext) => Promise<Stuck>, end: (stuck: Stuck) => unknown][] = [
  ["the client of a response leaves", openStuckResponse, ({ client }) => client.destroy()],
  [
    "the client of a response resets its connection",
    openStuckResponse,
    ({ client }) => client.resetAndDestroy(),
  ],
  [
    "the client reads a response that the upstream has broken off",
    openStuckResponse,
    ({ client, res }) => {
      res.destroy();
      client.resume();
    },
  ],
  ["the gate closes within a response", openStuckResponse, ({ gate }) => gate.close()],
  [
    "the client reads a response to its end",
    openStuckResponse,
    ({ client, res }) => {
      res.removeAllListeners("drain").end();
      client.resume();
    },
  ],
  ["the client of an upload leaves", openStuckUpload, ({ client }) => client.destroy()],
  ["the upstream of an upload breaks off", openStuckUpload, ({ req }) => req.socket.destroy()],
  ["the gate closes within an upload", openStuckUpload, ({ gate }) => gate.close()],
  [
    "the upstream responds without having read the upload",
    openStuckUpload,
    ({ res }) => res.writeHead(413, { connection: "close" }).end("too much"),
  ],
  [
    "the upstream takes nothing of an upload for too long",
    (t) => openStuckUpload(t, withLimits({ firstByteMs: 300 })),
    () => {},
  ],
  [
    "the upstream reads the upload after all",
    openStuckUpload,
    ({ req, res }) => req.resume().once("end", () => res.end("{}")),
  ],
];

/** What waits after the exchange has ended and left its record. */
const UNSENT: [what: string, open: (t: TestContext) => Promise<Unsent>][] = [
  ["the end of a response", openUnsentResponse],
  ["a compressed error", openUnsentError],
];

function endsWithNothing(open: (t: TestContext) => Promise<Stuck>, end: (stuck: Stuck) => unknown): Scenario {
  return async (t) => {
    const stuck = await open(t);
    await end(stuck);
    while (stuck.gate.bufferedBytes > 0 || stuck.gate.openExchanges > 0) await setImmediate();
  };
}

/** What waits is no longer counted when nobody waits for it. */
export const STUCK_ENDINGS: Record<string, Scenario> = {
  ...Object.fromEntries(
    ENDINGS.map(([what, open, end]) => [`nothing is held any more when ${what}`, endsWithNothing(open, end)]),
  ),
  ...Object.fromEntries(
    UNSENT.flatMap(([what, open]) =>
      (["leaves", "reads"] as const).map((how): [string, Scenario] => [
        `nothing is held any more when the client that has not read ${what} ${how}`,
        async (t) => {
          const { gate, client } = await open(t);
          assert.ok(gate.bufferedBytes > 0);
          if (how === "leaves") client.destroy();
          else client.resume();
          while (gate.bufferedBytes > 0) await setImmediate();
        },
      ]),
    ),
  ),
};

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { constants, createGzip } from "node:zlib";
import { createPeerInfo } from "../../src/adapters/peer.ts";
import type { UsageState } from "../../src/core/usage/reading.ts";
import { settled, startGate, type GateOptions, type TestGate } from "../helpers/gate/gate.ts";
import { beginRequest, rawClient, rawRequest, type RawClient } from "../helpers/client/raw-client.ts";
import { startTcpUpstream, untilStill } from "../helpers/upstream/tcp-upstream.ts";
import { MESSAGE_EVENTS, SSE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { openStream } from "./endings/ending.ts";

/** An exchange whose client can leave. */
export interface UnderWay {
  gate: TestGate;
  client: RawClient;
  /** Resolves when the upstream's end of the connection is closed. */
  freed: Promise<unknown>;
}

/** Where an exchange can be when its client leaves. */
export interface Phase {
  phase: string;
  /** Brings one there. */
  open(t: TestContext, options: GateOptions): Promise<UnderWay>;
  /** What the record must say: its status, how sure the usage is, and the input that is known of it. */
  record: readonly [status: number | null, UsageState, input: number | null];
}

/** Cut before its answer began. */
const UNANSWERED = [null, "absent", null] as const;
const BEGUN = [200, "partial", 3] as const;

/** An upstream that takes the connection, and says nothing of TLS. */
async function openHandshake(t: TestContext, options: GateOptions): Promise<UnderWay> {
  const upstream = await startTcpUpstream(t, (socket) => socket.resume());
  const gate = await startGate(t, `https://127.0.0.1:${upstream.port}/v1`, options);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const socket = await upstream.first;
  const freed = once(socket, "close");
  await once(socket, "data");
  return { gate, client, freed };
}

/** An upstream that has the request, or its head, and does not answer. */
async function openUnanswered(
  t: TestContext,
  options: GateOptions,
  request: (port: number) => string,
): Promise<UnderWay> {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl, options);
  const requested = once(upstream.server, "request") as Promise<[unknown, ServerResponse]>;
  const client = await rawClient(t, gate.port);
  client.write(request(gate.port));
  return { gate, client, freed: once((await requested)[1], "close") };
}

const PIECE = Buffer.alloc(64 * 1024, "x");

/** An upload that the upstream does not read. */
export interface UnreadUpload extends UnderWay {
  /** What the upstream has read of it once it is freed. */
  received(): number;
  /** Does a part of it still wait in the client? */
  isHeldUp: boolean;
}

/** Opens one whose upstream begins to read, and so sees the end of the connection, when the record is there. */
export async function openUnreadUpload(
  t: TestContext,
  options: GateOptions,
  bytes: number,
): Promise<UnreadUpload> {
  const upstream = await startTcpUpstream(t, (socket) => socket.pause());
  const gate = await startGate(t, upstream.baseUrl, { peers: createPeerInfo(), ...options });
  const client = await rawClient(t, gate.port);
  client.write(beginRequest(gate.port, `Content-Length: ${bytes}`));
  for (let sent = 0; sent < bytes; sent += PIECE.length) client.socket.write(PIECE.subarray(0, bytes - sent));
  const socket = await upstream.first;
  await untilStill(() => client.socket.writableLength);
  let received = 0;
  const freed = gate.ledger.first(1).then(() => {
    socket.on("data", (chunk) => (received += chunk.length)).resume();
    return once(socket, "close");
  });
  return { gate, client, freed, received: () => received, isHeldUp: client.socket.writableLength > 0 };
}

/** A stream of which the client has `begin`. */
async function openSilent(t: TestContext, options: GateOptions, begin?: string): Promise<UnderWay> {
  const { gate, client, answer } = await openStream(t, options, begin);
  return { gate, client, freed: once(answer, "close") };
}

/** A stream whose upstream never falls silent. */
async function openTalking(t: TestContext, options: GateOptions): Promise<UnderWay> {
  const { gate, client, answer } = await openStream(t, options);
  const talk = setInterval(() => answer.write(MESSAGE_EVENTS[1]), 5);
  t.after(() => clearInterval(talk));
  await client.until(/text_delta[^]*text_delta/);
  return { gate, client, freed: once(answer, "close") };
}

async function openCompressed(t: TestContext, options: GateOptions): Promise<UnderWay> {
  const upstream = await startUpstream(t, (_seen, res) => {
    const gzip = createGzip();
    gzip.pipe(res.writeHead(200, { ...SSE, "content-encoding": "gzip" }));
    gzip.write(MESSAGE_EVENTS[0]);
    gzip.flush(constants.Z_SYNC_FLUSH);
  });
  const connected = once(upstream.server, "connection") as Promise<[Socket]>;
  const gate = await startGate(t, upstream.baseUrl, options);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const freed = once((await connected)[0], "close");
  await client.until(/\r\n\r\n[^]{20}/);
  await settled(gate);
  return { gate, client, freed };
}

const get = (port: number) => `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const postTo = (path: string) => (port: number) => rawRequest(port).replace("/v1/messages", path);
/** The beginning of an upload. */
const beginUpload = (port: number) => `${beginRequest(port, "Content-Length: 100")}{"model":`;

const ROUTES: [route: string, request: (port: number) => string][] = [
  ["GET /v1/models", get],
  ["POST /v1/responses", postTo("/v1/responses")],
  ["POST /v1/messages", rawRequest],
  ["POST /v1/messages/count_tokens", postTo("/v1/messages/count_tokens")],
];

export const PHASES: readonly Phase[] = [
  { phase: "while the upstream's TLS handshake hangs", open: openHandshake, record: UNANSWERED },
  {
    phase: "during its upload",
    open: (t, options) => openUnanswered(t, options, beginUpload),
    record: UNANSWERED,
  },
  {
    phase: "while the upstream does not read its upload",
    open: (t, options) => openUnreadUpload(t, options, 20_000_000),
    record: UNANSWERED,
  },
  ...ROUTES.map(([route, request]): Phase => ({
    phase: `${route} before the answer's head`,
    open: (t, options) => openUnanswered(t, options, request),
    record: route.includes("models") || route.includes("count") ? [null, "none", null] : UNANSWERED,
  })),
  {
    phase: "a stream before its first event",
    open: (t, options) => openSilent(t, options, ""),
    record: [200, "absent", null],
  },
  { phase: "a silent stream", open: openSilent, record: BEGUN },
  { phase: "a stream that goes on", open: openTalking, record: BEGUN },
  { phase: "a compressed stream", open: openCompressed, record: BEGUN },
];

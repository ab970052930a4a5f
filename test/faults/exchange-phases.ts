import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { constants, createGzip } from "node:zlib";
import { createPeerInfo } from "../../src/adapters/peer.ts";
import { PROCESS_SIGNATURES } from "../../src/tools/all.ts";
import type { UsageState } from "../../src/core/usage/reading.ts";
import { waitUntilHandled, startGate, type GateOptions, type TestGate } from "../helpers/gate/gate.ts";
import { beginRequest, rawRequest, type RawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { startTcpUpstream, waitUntilStill } from "../helpers/upstream/tcp-upstream.ts";
import { MESSAGE_EVENTS, SSE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { openStream } from "./endings/ending.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** An exchange in some phase, whose client can disconnect. */
interface OpenExchange {
  gate: TestGate;
  client: RawClient;
  /** Resolves when the upstream's end of the connection is closed. */
  upstreamClosed: Promise<unknown>;
}

/** A phase of an exchange in which its client may disconnect. */
export interface Phase {
  phase: string;
  /** Opens an exchange and brings it to the phase. */
  open(t: TestContext, options: GateOptions): Promise<OpenExchange>;
  /** What the record must contain: the status, the state of the usage, and the known input tokens. */
  record: readonly [status: number | null, UsageState, input: number | null];
}

/** The record of an exchange that was cut before the response began. */
const NO_RESPONSE = [null, "absent", null] as const;
const BEGUN = [200, "partial", 3] as const;

/** Opens an exchange with an upstream that accepts the connection and never answers the TLS handshake. */
async function openHandshake(t: TestContext, options: GateOptions): Promise<OpenExchange> {
  const upstream = await startTcpUpstream(t, (socket) => socket.resume());
  const gate = await startGate(t, `https://127.0.0.1:${upstream.port}/v1`, options);
  const client = await sendRaw(t, gate.port);
  const socket = await upstream.first;
  const upstreamClosed = once(socket, "close");
  await once(socket, "data");
  return { gate, client, upstreamClosed };
}

/** Opens an exchange with an upstream that has the request, or its head, and does not respond. */
async function openUnanswered(
  t: TestContext,
  options: GateOptions,
  request: (port: number) => string,
): Promise<OpenExchange> {
  const { upstream, gate } = await startGateWithUpstream(t, () => {}, options);
  const requested = once(upstream.server, "request") as Promise<[unknown, ServerResponse]>;
  const client = await sendRaw(t, gate.port, request(gate.port));
  return { gate, client, upstreamClosed: once((await requested)[1], "close") };
}

const CHUNK = Buffer.alloc(64 * 1024, "x");

/** An upload that the upstream does not read. */
export interface UnreadUpload extends OpenExchange {
  /** How many bytes the upstream has read when its connection is closed. */
  received(): number;
  /** True when a part of it is still unsent in the client. */
  isBlocked: boolean;
}

/** Opens an upload. Once the record is written, the upstream reads what is left and so sees the end of the connection. */
export async function openUnreadUpload(
  t: TestContext,
  options: GateOptions,
  bytes: number,
): Promise<UnreadUpload> {
  const upstream = await startTcpUpstream(t, (socket) => socket.pause());
  const gate = await startGate(t, upstream.baseUrl, {
    peers: createPeerInfo(PROCESS_SIGNATURES),
    ...options,
  });
  const client = await sendRaw(t, gate.port, beginRequest(gate.port, `Content-Length: ${bytes}`));
  for (let sent = 0; sent < bytes; sent += CHUNK.length) client.socket.write(CHUNK.subarray(0, bytes - sent));
  const socket = await upstream.first;
  await waitUntilStill(() => client.socket.writableLength);
  let received = 0;
  const upstreamClosed = gate.ledger.first(1).then(() => {
    socket.on("data", (chunk) => (received += chunk.length)).resume();
    return once(socket, "close");
  });
  return {
    gate,
    client,
    upstreamClosed,
    received: () => received,
    isBlocked: client.socket.writableLength > 0,
  };
}

/** Opens a stream whose client has received `begin`. */
async function openSilentStream(t: TestContext, options: GateOptions, begin?: string): Promise<OpenExchange> {
  const { gate, client, response } = await openStream(t, options, begin);
  return { gate, client, upstreamClosed: once(response, "close") };
}

/** Opens a stream whose upstream keeps sending events. */
async function openSendingStream(t: TestContext, options: GateOptions): Promise<OpenExchange> {
  const { gate, client, response } = await openStream(t, options);
  const talk = setInterval(() => response.write(MESSAGE_EVENTS[1]), 5);
  t.after(() => clearInterval(talk));
  await client.until(/text_delta[^]*text_delta/);
  return { gate, client, upstreamClosed: once(response, "close") };
}

async function openCompressedStream(t: TestContext, options: GateOptions): Promise<OpenExchange> {
  const upstream = await startUpstream(t, (_seen, res) => {
    const gzip = createGzip();
    gzip.pipe(res.writeHead(200, { ...SSE, "content-encoding": "gzip" }));
    gzip.write(MESSAGE_EVENTS[0]);
    gzip.flush(constants.Z_SYNC_FLUSH);
  });
  const connected = once(upstream.server, "connection") as Promise<[Socket]>;
  const gate = await startGate(t, upstream.baseUrl, options);
  const client = await sendRaw(t, gate.port);
  const upstreamClosed = once((await connected)[0], "close");
  await client.until(/\r\n\r\n[^]{20}/);
  await waitUntilHandled(gate);
  return { gate, client, upstreamClosed };
}

const get = (port: number) => `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const postTo = (path: string) => (port: number) => rawRequest(port).replace("/v1/messages", path);
/** The head and the first bytes of an upload. */
const beginUpload = (port: number) => `${beginRequest(port, "Content-Length: 100")}{"model":`;

const ROUTES: [route: string, request: (port: number) => string][] = [
  ["GET /v1/models", get],
  ["POST /v1/responses", postTo("/v1/responses")],
  ["POST /v1/messages", rawRequest],
  ["POST /v1/messages/count_tokens", postTo("/v1/messages/count_tokens")],
];

export const PHASES: readonly Phase[] = [
  { phase: "while the TLS handshake with the upstream hangs", open: openHandshake, record: NO_RESPONSE },
  {
    phase: "during its upload",
    open: (t, options) => openUnanswered(t, options, beginUpload),
    record: NO_RESPONSE,
  },
  {
    phase: "while the upstream does not read its upload",
    open: (t, options) => openUnreadUpload(t, options, 20_000_000),
    record: NO_RESPONSE,
  },
  ...ROUTES.map(([route, request]): Phase => ({
    phase: `before the response head of ${route}`,
    open: (t, options) => openUnanswered(t, options, request),
    record: route.includes("models") || route.includes("count") ? [null, "none", null] : NO_RESPONSE,
  })),
  {
    phase: "before the first event of a stream",
    open: (t, options) => openSilentStream(t, options, ""),
    record: [200, "absent", null],
  },
  { phase: "in a silent stream", open: openSilentStream, record: BEGUN },
  { phase: "in a stream that keeps sending", open: openSendingStream, record: BEGUN },
  { phase: "in a compressed stream", open: openCompressedStream, record: BEGUN },
];

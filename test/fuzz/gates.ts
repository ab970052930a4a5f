import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { setImmediate, setTimeout } from "node:timers/promises";
import * as fc from "fast-check";
import { defaultConfig } from "../../src/core/config/config.ts";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { post, startGate, TEST_KEY, upstreamAt, type TestGate } from "../helpers/gate/gate.ts";
import { writeCertificate, type Certificate } from "../helpers/upstream/certificate.ts";
import { startTcpUpstream } from "../helpers/upstream/tcp-upstream.ts";
import { MESSAGE, startUpstream, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { splitIntoChunks } from "./chunking.ts";
import { AUTHORITY, conversation, type Transmission, type Conversation } from "./conversations.ts";
import { property, type Property } from "./property.ts";
import { withScratchDirectory } from "./scratch.ts";
import { withTestContext } from "./test-context.ts";

/** Limits so short that every conversation ends soon. */
const SHORT_LIMITS = {
  abort: { graceMs: 5 },
  limits: {
    ...defaultConfig.limits,
    firstByteMs: 60,
    betweenBytesMs: 60,
    bodyIdleMs: 60,
    bodyBytes: 300_000,
  },
};

/** How long a client waits before it disconnects. The property does not depend on it. */
const CLIENT_TIMEOUT_MS = 150;

/** Longer than any exchange can take. Only a lost exchange is still open then. */
const LOST_AFTER_MS = 10_000;

/**
 * Sends a transmission and disconnects as it says. The connection may be closed at any time. Over TLS, `below` is the connection
 * that carries it: it is destroyed without TLS's own farewell, and reset.
 */
async function transmit(
  socket: Socket,
  { bytes, chunks, ending }: Transmission,
  below: Socket = socket,
): Promise<void> {
  for (const chunk of splitIntoChunks(bytes, chunks)) {
    if (socket.destroyed) return;
    // A copy, because the socket may send it later.
    socket.write(Buffer.from(chunk));
    await setImmediate();
  }
  if (ending === "end") socket.end();
  if (ending === "destroy") below.destroy();
  if (ending === "reset") below.resetAndDestroy();
}

/** Runs one client until its connection is closed. Returns everything it received. */
async function runClient(port: number, parts: readonly Transmission[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => (received += text));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.setTimeout(CLIENT_TIMEOUT_MS, () => socket.destroy());
  for (const part of parts) {
    const text = part.bytes.toString("latin1").replace(AUTHORITY, `127.0.0.1:${port}`);
    await transmit(socket, { ...part, bytes: Buffer.from(text, "latin1") });
    if (socket.destroyed) break;
    await Promise.race([closed, new Promise((resolve) => socket.once("data", resolve))]);
  }
  await closed;
  return received;
}

/** Counts the requests that get a route: exactly those leave a record. */
function countRouted({ gate }: TestGate): () => number {
  let routed = 0;
  const { settings } = gate;
  gate.use({
    ...settings,
    destinationsFor(tool) {
      routed += 1;
      return settings.destinationsFor(tool);
    },
  });
  return () => routed;
}

async function waitForRecords({ gate, ledger }: TestGate, routed: () => number): Promise<void> {
  const deadline = performance.now() + LOST_AFTER_MS;
  while (performance.now() < deadline) {
    if (gate.openExchanges === 0 && ledger.records.length >= routed()) return;
    await setTimeout(5);
  }
}

/** Fails unless a request to a well-behaved upstream gets its response. */
async function assertServes(gate: TestGate, baseUrl: string): Promise<void> {
  const upstream = upstreamAt(baseUrl);
  gate.keys.set({ name: upstream.key, origin: upstream.origin }, TEST_KEY);
  gate.gate.use(prepareSettings({ ...defaultConfig, upstreams: { default: upstream } }));
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, await res.json()], [200, MESSAGE]);
}

/** Made once: making one takes as long as a conversation. */
let certificate: Certificate | null = null;

/** What an upstream over TLS needs, and the settings by which a gate trusts it. */
async function trustTls() {
  certificate ??= await withScratchDirectory((directory) =>
    Promise.resolve(writeCertificate(directory, "IP:127.0.0.1")),
  );
  const { key, cert } = certificate;
  const outbound = { ...defaultConfig.outbound, authorities: [cert.toString()] };
  return { secureContext: createSecureContext({ key, cert }), outbound };
}

/** Runs a conversation and checks that the gate has kept its records and still serves. */
async function checkConversation({ clients, responses }: Conversation, isSecure: boolean): Promise<void> {
  const tls = isSecure ? await trustTls() : null;
  await withTestContext(async (t) => {
    let turn = 0;
    const upstream = await startTcpUpstream(t, (below) => {
      const socket =
        tls === null ? below : new TLSSocket(below, { isServer: true, secureContext: tls.secureContext });
      socket.on("error", () => {});
      socket.setEncoding("latin1").on("data", (text: string) => {
        const answer = responses[turn % responses.length];
        if (answer === undefined || !text.includes(" HTTP/1.1\r\n")) return;
        turn += 1;
        void transmit(socket, answer, below);
      });
    });
    const wellBehaved = await startUpstream(t, respondWithMessage);
    const baseUrl = tls === null ? upstream.baseUrl : upstream.baseUrl.replace("http:", "https:");
    const config = tls === null ? SHORT_LIMITS : { ...SHORT_LIMITS, outbound: tls.outbound };
    const gate = await startGate(t, baseUrl, { config });
    const routed = countRouted(gate);
    const received = await Promise.all(clients.map((parts) => runClient(gate.port, parts)));
    await waitForRecords(gate, routed);
    const { records } = gate.ledger;
    assert.deepEqual([records.length, gate.gate.openExchanges], [routed(), 0]);
    await assertServes(gate, wellBehaved.baseUrl);
    assert.equal(new Set(records.map(({ id }) => id)).size, records.length);
    assert.ok(!JSON.stringify([received, records, gate.log.lines]).includes(TEST_KEY));
    assert.deepEqual(
      gate.log.lines.filter((line) => line.startsWith("error")),
      [],
    );
  });
}

/** Takes a tenth of a second per case because of sockets and timers, so only `npm run fuzz` checks it. */
export const GATES: readonly Property[] = [
  property(
    "gate: whatever clients and upstreams send, each request with a route leaves one record, and the gate still serves",
    { batch: 30 },
    fc.asyncProperty(conversation, (tried) => checkConversation(tried, false)),
  ),
  property(
    "gate, over TLS: whatever clients and upstreams send, each request with a route leaves one record, and the gate still serves",
    { batch: 30 },
    fc.asyncProperty(conversation, (tried) => checkConversation(tried, true)),
  ),
];

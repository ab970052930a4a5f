import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import type { TestContext } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { waitUntilHandled, startGate, type GateOptions, type TestGate } from "../../helpers/gate/gate.ts";
import { beginRequest, rawRequest, type RawClient, sendRaw } from "../../helpers/client/raw-client.ts";
import { startFullListener, startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { COMPLETED, cutEarly, cutLate, openStream, type Ending, type Expected } from "./ending.ts";

const SHORT_GRACE = { config: { abort: { graceMs: 20 } } };
const LONG_GRACE = { config: { abort: { graceMs: 60_000 } } };

interface PendingRequest {
  gate: TestGate;
  client: RawClient;
}

/** Sends a request, or the beginning of one, to an upstream that never responds. */
async function sendToSilentUpstream(
  t: TestContext,
  request: (port: number) => string,
  options: GateOptions = SHORT_GRACE,
): Promise<PendingRequest> {
  const upstream = await startTcpUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl, options);
  const client = await sendRaw(t, gate.port, request(gate.port));
  await once(await upstream.first, "data");
  return { gate, client };
}

/** Sends a request whose upstream connection is never established. */
async function sendToUnreachableUpstream(t: TestContext): Promise<PendingRequest> {
  const gate = await startGate(t, `http://127.0.0.1:${await startFullListener(t)}/v1`, SHORT_GRACE);
  const client = await sendRaw(t, gate.port);
  while (gate.gate.openExchanges === 0) await setImmediate();
  return { gate, client };
}

/** Sends the head of a request and receives 100 Continue. */
async function sendExpectContinue(t: TestContext): Promise<PendingRequest> {
  const { baseUrl } = await startTcpUpstream(t, () => {});
  const gate = await startGate(t, baseUrl, SHORT_GRACE);
  const client = await sendRaw(
    t,
    gate.port,
    beginRequest(gate.port, "Content-Length: 9\r\nExpect: 100-continue"),
  );
  await client.until(/100 Continue/);
  return { gate, client };
}

/** The head and the first bytes of an upload. */
const upload = (port: number) => `${beginRequest(port, "Content-Length: 100")}{"model":`;
const uploadInChunks = (port: number) => `${beginRequest(port, "Transfer-Encoding: chunked")}5\r\n{"mod\r\n`;

/** Phases of a request in which its client may disconnect. */
const PHASES: [phase: string, open: (t: TestContext) => Promise<PendingRequest>, record: Expected][] = [
  ["after 100 Continue", sendExpectContinue, cutEarly("client")],
  ["within its upload", (t) => sendToSilentUpstream(t, upload), cutEarly("client")],
  ["within its upload in chunks", (t) => sendToSilentUpstream(t, uploadInChunks), cutEarly("client")],
  ["before the upstream connection is established", sendToUnreachableUpstream, cutEarly("client")],
  ["before the response", (t) => sendToSilentUpstream(t, rawRequest), cutEarly("client")],
  [
    "between the response head and the first event",
    (t) => openStream(t, SHORT_GRACE, ""),
    cutEarly("client"),
  ],
  ["in mid-stream", (t) => openStream(t, SHORT_GRACE), cutLate("client")],
];

/** Ways to disconnect. */
const DISCONNECTS: [how: string, disconnect: (client: RawClient) => unknown][] = [
  ["disconnects", ({ socket }) => socket.destroy()],
  ["resets its connection", ({ socket }) => socket.resetAndDestroy()],
];

/** The client disconnects while the key is being read. */
async function disconnectBeforeKey(t: TestContext): Promise<TestGate> {
  const gate = await startGate(t, "http://127.0.0.1:1/v1");
  const reading = gate.keys.hold();
  const client = await sendRaw(t, gate.port);
  await reading.started;
  client.socket.destroy();
  await client.closed;
  await waitUntilHandled(gate);
  reading.release();
  return gate;
}

export const BY_CLIENT: Ending[] = [
  ...PHASES.flatMap(([phase, open, record]) =>
    DISCONNECTS.map(([how, disconnect]): Ending => ({
      what: `the client ${how} ${phase}`,
      record,
      async run(t) {
        const { gate, client } = await open(t);
        disconnect(client);
        return gate;
      },
    })),
  ),
  {
    what: "the client disconnects while the key is read",
    record: cutEarly("client"),
    run: disconnectBeforeKey,
  },
  {
    what: "the client disconnects in mid-stream and the upstream finishes within the grace period",
    record: COMPLETED,
    async run(t) {
      const { gate, client, finish } = await openStream(t, LONG_GRACE);
      client.socket.destroy();
      await client.closed;
      finish();
      return gate;
    },
  },
  {
    what: "the client closes its sending direction and reads to the end",
    record: COMPLETED,
    async run(t) {
      const { gate, client, finish } = await openStream(t);
      client.socket.end();
      finish();
      await client.until(/message_stop/);
      return gate;
    },
  },
  {
    what: "the client stops sending within its upload",
    record: cutEarly("client"),
    async run(t) {
      const limits = { ...defaultConfig.limits, bodyIdleMs: 50 };
      return (await sendToSilentUpstream(t, upload, { config: { limits } })).gate;
    },
  },
  {
    what: "the client sends a malformed chunk within its upload",
    record: cutEarly("client"),
    async run(t) {
      const { gate, client } = await sendToSilentUpstream(t, uploadInChunks);
      client.write("zz\r\n");
      return gate;
    },
  },
];

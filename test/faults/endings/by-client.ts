import { EventEmitter, once } from "node:events";
import { setImmediate } from "node:timers/promises";
import type { TestContext } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { settled, startGate, type GateOptions, type TestGate } from "../../helpers/gate/gate.ts";
import { beginRequest, rawClient, rawRequest, type RawClient } from "../../helpers/client/raw-client.ts";
import { startFullListener, startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { COMPLETED, cutEarly, cutLate, openStream, type Ending, type Expected } from "./ending.ts";

/** What an upstream that says nothing is given after its client has left. */
const SHORT_GRACE = { config: { abort: { graceMs: 20 } } };
const LONG_GRACE = { config: { abort: { graceMs: 60_000 } } };

interface Asked {
  gate: TestGate;
  client: RawClient;
}

/** A request, or the beginning of one, that has reached an upstream which never answers. */
async function askSilent(
  t: TestContext,
  request: (port: number) => string,
  options: GateOptions = SHORT_GRACE,
): Promise<Asked> {
  const upstream = await startTcpUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl, options);
  const client = await rawClient(t, gate.port);
  client.write(request(gate.port));
  await once(await upstream.first, "data");
  return { gate, client };
}

/** A request whose connection to the upstream never comes to be. */
async function askUnreachable(t: TestContext): Promise<Asked> {
  const gate = await startGate(t, `http://127.0.0.1:${await startFullListener(t)}/v1`, SHORT_GRACE);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  while (gate.gate.openExchanges === 0) await setImmediate();
  return { gate, client };
}

/** A request that has been told to go on, and does not. */
async function askWhetherToGoOn(t: TestContext): Promise<Asked> {
  const { baseUrl } = await startTcpUpstream(t, () => {});
  const gate = await startGate(t, baseUrl, SHORT_GRACE);
  const client = await rawClient(t, gate.port);
  client.write(beginRequest(gate.port, "Content-Length: 9\r\nExpect: 100-continue"));
  await client.until(/100 Continue/);
  return { gate, client };
}

/** The beginnings of two uploads. */
const upload = (port: number) => `${beginRequest(port, "Content-Length: 100")}{"model":`;
const uploadInChunks = (port: number) => `${beginRequest(port, "Transfer-Encoding: chunked")}5\r\n{"mod\r\n`;

/** Where a request may be when its client leaves. */
const PHASES: [phase: string, ask: (t: TestContext) => Promise<Asked>, record: Expected][] = [
  ["after 100 Continue", askWhetherToGoOn, cutEarly("client")],
  ["within its upload", (t) => askSilent(t, upload), cutEarly("client")],
  ["within its upload in chunks", (t) => askSilent(t, uploadInChunks), cutEarly("client")],
  ["before there is a connection to the upstream", askUnreachable, cutEarly("client")],
  ["before the answer", (t) => askSilent(t, rawRequest), cutEarly("client")],
  ["after the head, before any event", (t) => openStream(t, SHORT_GRACE, ""), cutEarly("client")],
  ["in mid-stream", (t) => openStream(t, SHORT_GRACE), cutLate("client")],
];

/** Ways to leave. */
const LEAVING: [how: string, leave: (client: RawClient) => unknown][] = [
  ["leaves", ({ socket }) => socket.destroy()],
  ["resets its connection", ({ socket }) => socket.resetAndDestroy()],
];

/** The client leaves while its key is being read. */
async function leaveBeforeKey(t: TestContext): Promise<TestGate> {
  const gate = await startGate(t, "http://127.0.0.1:1/v1");
  const store = new EventEmitter();
  const asked = once(store, "asked");
  const read = gate.keys.read.bind(gate.keys);
  gate.keys.read = async (ref) => {
    store.emit("asked");
    await once(store, "answer");
    return read(ref);
  };
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  await asked;
  client.socket.destroy();
  await client.closed;
  await settled(gate);
  store.emit("answer");
  return gate;
}

export const BY_CLIENT: Ending[] = [
  ...PHASES.flatMap(([phase, ask, record]) =>
    LEAVING.map(([how, leave]): Ending => ({
      what: `client: ${how} ${phase}`,
      record,
      async play(t) {
        const { gate, client } = await ask(t);
        leave(client);
        return gate;
      },
    })),
  ),
  { what: "client: leaves while its key is read", record: cutEarly("client"), play: leaveBeforeKey },
  {
    what: "client: leaves in mid-stream, and the upstream says the rest within the grace",
    record: COMPLETED,
    async play(t) {
      const { gate, client, finish } = await openStream(t, LONG_GRACE);
      client.socket.destroy();
      await client.closed;
      finish();
      return gate;
    },
  },
  {
    what: "client: says that it sends nothing more, and reads on",
    record: COMPLETED,
    async play(t) {
      const { gate, client, finish } = await openStream(t);
      client.socket.end();
      finish();
      await client.until(/message_stop/);
      return gate;
    },
  },
  {
    what: "client: stops sending in its upload",
    record: cutEarly("client"),
    async play(t) {
      const limits = { ...defaultConfig.limits, bodyIdleMs: 50 };
      return (await askSilent(t, upload, { config: { limits } })).gate;
    },
  },
  {
    what: "client: sends something in its upload that is no chunk",
    record: cutEarly("client"),
    async play(t) {
      const { gate, client } = await askSilent(t, uploadInChunks);
      client.write("zz\r\n");
      return gate;
    },
  },
];

import type { TestContext } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { KeyFailure } from "../../../src/core/failure.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { startGate, upstreamAt, type GateOptions, type TestGate } from "../../helpers/gate/gate.ts";
import { beginRequest, rawRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";
import { COMPLETED, cutEarly, cutLate, openStream, REJECTED, type Ending, type Expected } from "./ending.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";

const SMALL = { config: { limits: { ...defaultConfig.limits, bodyBytes: 10 } } };
const TOO_LARGE = `b\r\n${"x".repeat(11)}\r\n`;
const WITHOUT_USAGE: Expected = ["completed", null, "none", null];

/** Sends bytes to a gate in front of an upstream that responds to everything, and waits for the record. */
async function sendRequest(
  t: TestContext,
  request: (port: number) => string,
  options: GateOptions = {},
  prepare: (gate: TestGate) => void = () => {},
): Promise<TestGate> {
  const { gate } = await startGateWithUpstream(t, respondWithMessage, options);
  prepare(gate);
  await sendRaw(t, gate.port, request(gate.port));
  await gate.ledger.first(1);
  return gate;
}

const REFUSALS: Ending[] = [
  {
    what: "the announced length of a body exceeds the limit",
    record: REJECTED,
    run: (t) => sendRequest(t, rawRequest, SMALL),
  },
  {
    what: "a chunked body exceeds the limit",
    record: REJECTED,
    run: (t) => sendRequest(t, (port) => beginRequest(port, "Transfer-Encoding: chunked") + TOO_LARGE, SMALL),
  },
  {
    what: "a body that exceeds the limit expects 100-continue",
    record: REJECTED,
    run: (t) =>
      sendRequest(t, (port) => beginRequest(port, "Content-Length: 11\r\nExpect: 100-continue"), SMALL),
  },
  {
    what: "no key is stored",
    record: REJECTED,
    run: (t) => sendRequest(t, rawRequest, {}, ({ keys }) => keys.values.clear()),
  },
  ...(["locked", "unavailable", "unresponsive", "unsafe"] as const).map((code): Ending => ({
    what: `the key source is ${code}`,
    record: REJECTED,
    run: (t) =>
      sendRequest(t, rawRequest, {}, ({ keys }) => (keys.failure = new KeyFailure(code, "why", "hint"))),
  })),
  {
    what: "an internal error occurs",
    record: REJECTED,
    // Not possible in a configuration. Node throws on this path when everything else is ready to be sent.
    run: (t) => sendRequest(t, rawRequest, { upstream: { basePath: "/v1\u0100" } }),
  },
];

const ROUTES: Ending[] = [
  {
    what: "the response is a list of models, which has no usage",
    record: WITHOUT_USAGE,
    run: (t) => sendRequest(t, (port) => `GET /v1/models HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`),
  },
  {
    what: "the response is a token count, which has no usage",
    record: WITHOUT_USAGE,
    run: (t) => sendRequest(t, (port) => rawRequest(port).replace("/messages", "/messages/count_tokens")),
  },
];

const STOPS: Ending[] = [
  {
    what: "the gate closes before the key is read",
    record: cutEarly("proxy"),
    async run(t) {
      const { gate } = await startGateWithUpstream(t, respondWithMessage);
      const { started } = gate.keys.hold();
      await sendRaw(t, gate.port);
      await started;
      gate.gate.close();
      return gate;
    },
  },
  {
    what: "the gate closes before the response",
    record: cutEarly("proxy"),
    async run(t) {
      const upstream = await startTcpUpstream(t, () => {});
      const gate = await startGate(t, upstream.baseUrl);
      await sendRaw(t, gate.port);
      await upstream.first;
      gate.gate.close();
      return gate;
    },
  },
  {
    what: "the gate closes in mid-stream",
    record: cutLate("proxy"),
    async run(t) {
      const { gate } = await openStream(t);
      gate.gate.close();
      return gate;
    },
  },
  {
    what: "the gate drains and the stream ends in time",
    record: COMPLETED,
    async run(t) {
      const { gate, finish } = await openStream(t);
      const drained = gate.gate.drain();
      finish();
      await drained;
      return gate;
    },
  },
  {
    what: "a new configuration is loaded and keys are forgotten in mid-stream",
    record: COMPLETED,
    async run(t) {
      const { gate, finish } = await openStream(t);
      const upstreams = { default: upstreamAt("http://127.0.0.1:1/v1") };
      gate.gate.use(prepareSettings({ ...gate.gate.settings.config, upstreams }));
      gate.keyring.forget();
      finish();
      return gate;
    },
  },
];

const DISORDER: Ending[] = [
  {
    what: "the client sends a second request before the first response is complete",
    record: COMPLETED,
    async run(t) {
      const { gate, client, finish } = await openStream(t);
      client.write(rawRequest(gate.port));
      finish();
      return gate;
    },
  },
  {
    what: "the response is complete before the upload, which is then truncated",
    record: COMPLETED,
    async run(t) {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 64\r\n\r\n`;
      const body = `{"id":"msg_1","usage":{"input_tokens":3,"output_tokens":2}}`.padEnd(64);
      const upstream = await startTcpUpstream(t, (socket) =>
        socket.once("data", () => socket.write(head + body)),
      );
      const gate = await startGate(t, upstream.baseUrl);
      const client = await sendRaw(
        t,
        gate.port,
        `${beginRequest(gate.port, "Content-Length: 100")}{"model":`,
      );
      await client.until(/output_tokens/);
      client.socket.destroy();
      return gate;
    },
  },
];

export const BY_PROXY: Ending[] = [...REFUSALS, ...ROUTES, ...STOPS, ...DISORDER];

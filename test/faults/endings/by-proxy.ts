import type { TestContext } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { KeyFailure } from "../../../src/core/failure.ts";
import { prepareSettings } from "../../../src/proxy/settings.ts";
import { startGate, upstreamAt, type GateOptions, type TestGate } from "../../helpers/gate/gate.ts";
import { beginRequest, rawClient, rawRequest } from "../../helpers/client/raw-client.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { answerJson, MESSAGE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { COMPLETED, cutEarly, cutLate, openStream, REJECTED, type Ending, type Expected } from "./ending.ts";

const SMALL = { config: { limits: { ...defaultConfig.limits, bodyBytes: 10 } } };
const TOO_LARGE = `b\r\n${"x".repeat(11)}\r\n`;
const WITHOUT_USAGE: Expected = ["completed", null, "none", null];

/** Sends bytes to a gate in front of an upstream that answers everything, and waits for the record. */
async function ask(
  t: TestContext,
  request: (port: number) => string,
  options: GateOptions = {},
  prepare: (gate: TestGate) => void = () => {},
): Promise<TestGate> {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const gate = await startGate(t, upstream.baseUrl, options);
  prepare(gate);
  const client = await rawClient(t, gate.port);
  client.write(request(gate.port));
  await gate.ledger.first(1);
  return gate;
}

const REFUSALS: Ending[] = [
  {
    what: "proxy: a body is announced that is too large",
    record: REJECTED,
    play: (t) => ask(t, rawRequest, SMALL),
  },
  {
    what: "proxy: a body turns out to be too large",
    record: REJECTED,
    play: (t) => ask(t, (port) => beginRequest(port, "Transfer-Encoding: chunked") + TOO_LARGE, SMALL),
  },
  {
    what: "proxy: a body that is too large waits for 100 Continue",
    record: REJECTED,
    play: (t) => ask(t, (port) => beginRequest(port, "Content-Length: 11\r\nExpect: 100-continue"), SMALL),
  },
  {
    what: "proxy: no key is stored",
    record: REJECTED,
    play: (t) => ask(t, rawRequest, {}, ({ keys }) => keys.values.clear()),
  },
  ...(["locked", "unavailable", "unresponsive", "unsafe"] as const).map((code): Ending => ({
    what: `proxy: the key's source is ${code}`,
    record: REJECTED,
    play: (t) => ask(t, rawRequest, {}, ({ keys }) => (keys.failure = new KeyFailure(code, "why", "hint"))),
  })),
  {
    what: "proxy: a fault of our own",
    record: REJECTED,
    // No configuration can have such a path; Node throws on it when everything is ready to be sent.
    play: (t) => ask(t, rawRequest, { upstream: { basePath: "/v1\u0100" } }),
  },
];

const ROUTES: Ending[] = [
  {
    what: "a list of models, which has no usage",
    record: WITHOUT_USAGE,
    play: (t) => ask(t, (port) => `GET /v1/models HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`),
  },
  {
    what: "a count of tokens, which has no usage",
    record: WITHOUT_USAGE,
    play: (t) => ask(t, (port) => rawRequest(port).replace("/messages", "/messages/count_tokens")),
  },
];

const STOPS: Ending[] = [
  {
    what: "proxy: it stops before the answer",
    record: cutEarly("proxy"),
    async play(t) {
      const upstream = await startTcpUpstream(t, () => {});
      const gate = await startGate(t, upstream.baseUrl);
      const client = await rawClient(t, gate.port);
      client.write(rawRequest(gate.port));
      await upstream.first;
      gate.gate.close();
      return gate;
    },
  },
  {
    what: "proxy: it stops in mid-stream",
    record: cutLate("proxy"),
    async play(t) {
      const { gate } = await openStream(t);
      gate.gate.close();
      return gate;
    },
  },
  {
    what: "proxy: it drains, and the stream ends in time",
    record: COMPLETED,
    async play(t) {
      const { gate, finish } = await openStream(t);
      const drained = gate.gate.drain();
      finish();
      await drained;
      return gate;
    },
  },
  {
    what: "proxy: a new configuration and new keys come in mid-stream",
    record: COMPLETED,
    async play(t) {
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
    what: "a second request on the connection before the answer to the first is over",
    record: COMPLETED,
    async play(t) {
      const { gate, client, finish } = await openStream(t);
      client.write(rawRequest(gate.port));
      finish();
      return gate;
    },
  },
  {
    what: "an answer that comes before the upload is over, which then breaks off",
    record: COMPLETED,
    async play(t) {
      const answer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 64\r\n\r\n`;
      const body = `{"id":"msg_1","usage":{"input_tokens":3,"output_tokens":2}}`.padEnd(64);
      const upstream = await startTcpUpstream(t, (socket) =>
        socket.once("data", () => socket.write(answer + body)),
      );
      const gate = await startGate(t, upstream.baseUrl);
      const client = await rawClient(t, gate.port);
      client.write(`${beginRequest(gate.port, "Content-Length: 100")}{"model":`);
      await client.until(/output_tokens/);
      client.socket.destroy();
      return gate;
    },
  },
];

export const BY_PROXY: Ending[] = [...REFUSALS, ...ROUTES, ...STOPS, ...DISORDER];

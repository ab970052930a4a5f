// E5, spending without a record: every request that has a route leaves exactly one record, however it ends, with the input tokens
// that were seen until then. A request without a route leaves none.
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import type { TestGate } from "../helpers/gate/gate.ts";
import { beginRequest, rawClient, rawRequest, sendRaw } from "../helpers/client/raw-client.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { BY_CLIENT } from "./endings/by-client.ts";
import { BY_PROXY } from "./endings/by-proxy.ts";
import { BY_UPSTREAM } from "./endings/by-upstream.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** Ends everything that is still open, so that a second record would have been written by then. */
async function endAll({ gate, listener }: TestGate): Promise<void> {
  gate.close();
  await listener.destroy();
  await setImmediate();
}

const LIMIT = { timeout: 300_000 };

for (const { what, record: expected, run } of [...BY_UPSTREAM, ...BY_CLIENT, ...BY_PROXY]) {
  test(`an exchange leaves one record (${expected.join(" ")}) when ${what}`, LIMIT, async (t) => {
    const gate = await run(t);
    const [record] = await gate.ledger.first(1);
    await endAll(gate);
    assert.equal(gate.ledger.records.length, 1);
    const { outcome, cut_by, usage, tokens } = record ?? {};
    assert.deepEqual([outcome, cut_by, usage, tokens?.input_total ?? null], expected);
  });
}

test("sequential requests on one connection leave one record each", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithMessage);
  const client = await rawClient(t, gate.port);
  for (let count = 1; count <= 5; count += 1) {
    client.write(rawRequest(gate.port));
    await client.until(new RegExp(`(?:"output_tokens":2[^]*){${count}}`));
  }
  await endAll(gate);
  assert.equal(gate.ledger.records.length, 5);
});

const head = (line: string, fields: string) => (port: number) =>
  `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${fields}\r\n`;

/** Requests that are refused before they have a route, and the responses to them. */
const UNROUTED: [what: string, request: (port: number) => string, response: RegExp][] = [
  ["a foreign Host", () => "POST /v1/messages HTTP/1.1\r\nHost: evil.example\r\n\r\n", / 403 /],
  ["a foreign Origin", head("GET /v1/models", "Origin: http://evil.example\r\n"), / 403 /],
  ["another content type", head("POST /v1/messages", "Content-Type: text/plain\r\n"), / 415 /],
  ["an unknown path", head("GET /v1/vector_stores", ""), / 404 /],
  ["an absolute target", head("GET http://evil.example/v1/models", ""), / 404 /],
  ["a wrong method", head("GET /v1/messages", ""), / 405 /],
  ["a preflight method", head("OPTIONS /v1/messages", ""), / 405 /],
  [
    "a WebSocket upgrade",
    head("GET /v1/responses", "Upgrade: websocket\r\nConnection: upgrade\r\n"),
    / 426 /,
  ],
  ["a body in a GET", head("GET /v1/models", "Content-Length: 2\r\n"), / 400 /],
  ["a probe's path and method", head("HEAD /", ""), / 200 /],
  ["bytes that are not HTTP", () => "hello\r\n\r\n", / 400 /],
  ["two lengths", (port) => beginRequest(port, "Content-Length: 2\r\nContent-Length: 3"), / 400 /],
  ["headers that are too large", (port) => beginRequest(port, `X: ${"x".repeat(40_000)}`), / 431 /],
];

for (const [what, request, response] of UNROUTED) {
  test(`a request with ${what} has no route, reaches no upstream and leaves no record`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage);
    const client = await sendRaw(t, gate.port, request(gate.port));
    assert.match(await client.until(/^HTTP\/1\.1 .*\r\n/), response);
    await endAll(gate);
    assert.deepEqual([gate.ledger.records.length, upstream.seen.length], [0, 0]);
  });
}

test(
  "a request that arrives during shutdown is recorded and is the last on its connection",
  LIMIT,
  async (t) => {
    const { gate } = await startGateWithUpstream(t, respondWithMessage);
    await gate.gate.drain();
    const client = await sendRaw(t, gate.port);
    assert.match(await client.closed, /^HTTP\/1\.1 200 OK[^]*\r\nconnection: close\r\n/i);
    await endAll(gate);
    assert.equal(gate.ledger.records.length, 1);
  },
);

// C1, request smuggling: whatever two parsers could read differently is refused, and what passes gets new framing, so that the upstream
// sees only requests that a client sent as such.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { post as postJson, waitUntilHandled, startGate, type TestGate } from "../helpers/gate/gate.ts";
import { statusesOf } from "../helpers/client/http-messages.ts";
import { rawClient, type RawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { holdDecoders } from "../helpers/gate/hold-decoders.ts";
import { echo, rawResponse, startRawUpstream } from "../helpers/upstream/raw-upstream.ts";
import { SMUGGLING_CASES } from "./smuggling-cases.ts";
import { get, HIDDEN, post, type SmugglingCase } from "./smuggling/case.ts";
import { assertOnlyRequests } from "./smuggling/verdict.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { hastyClock } from "../helpers/gate/memory.ts";

const LIMIT = { timeout: 300_000 };

for (const [group, cases] of Object.entries(SMUGGLING_CASES)) {
  for (const attack of cases) {
    test(`${group}: ${attack.name}: ${attack.responses.join(", ")}`, LIMIT, async (t) => {
      const { upstream, gate } = await startGateWithRawUpstream(t, echo, { clock: hastyClock() });
      await assertServed(gate, "A");
      const received = await carryOut(t, gate, attack);
      await assertServed(gate, "B");
      assert.deepEqual(statusesOf(received), attack.responses, received);
      assertOnlyRequests(upstream, attack);
    });
  }
}

/** Fails unless another client's request over the shared connection gets its own response. */
async function assertServed(gate: TestGate, who: string): Promise<void> {
  const res = await postJson(gate, "/v1/messages", { who });
  assert.deepEqual(await res.json(), { echo: JSON.stringify({ who }) });
}

/** Sends the parts of an attack. Returns everything that the attacker receives until its connection is closed. */
async function carryOut(
  t: TestContext,
  gate: TestGate,
  { parts, responses }: SmugglingCase,
): Promise<string> {
  const client = await rawClient(t, gate.port);
  for (const [i, part] of parts.entries()) {
    await waitForResponses(client, i);
    client.write(part.replaceAll("@host", `127.0.0.1:${gate.port}`));
  }
  await waitForResponses(client, responses.length);
  client.socket.end();
  return client.closed;
}

/** Waits for so many responses, or until the connection is closed. */
async function waitForResponses(client: RawClient, count: number): Promise<void> {
  await client.until(new RegExp(`(?:HTTP/1\\.1 [0-9]{3}[^]*?){${count}}`)).catch(() => {});
}

test("a body that is shorter than announced does not swallow the next client's request", LIMIT, async (t) => {
  const { upstream, gate } = await startGateWithRawUpstream(t, echo, { clock: hastyClock() });
  await assertServed(gate, "A");
  const client = await sendRaw(
    t,
    gate.port,
    post("Content-Length: 500", HIDDEN).replace("@host", `127.0.0.1:${gate.port}`),
  );
  client.socket.end();
  const received = await client.closed;
  await gate.ledger.first(2);
  await assertServed(gate, "B");
  assert.doesNotMatch(received, /^HTTP\/1\.1 200/);
  assert.deepEqual(
    upstream.requests.map(({ body }) => body),
    [`{"who":"A"}`, `{"who":"B"}`],
  );
});

const CHUNK = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`;

for (const [what, framing, rest] of [
  ["an announced body", `Content-Length: ${HIDDEN.length}`, HIDDEN],
  ["a chunked body", "Transfer-Encoding: chunked", CHUNK],
] as const) {
  test(`the rest of ${what} after an early response does not become a request`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echo, { at: "head", clock: hastyClock() });
    const own = `127.0.0.1:${gate.port}`;
    const client = await sendRaw(t, gate.port, post(framing, rest.slice(0, 5)).replace("@host", own));
    await client.until(/\{"echo":""\}/);
    client.write(rest.slice(5) + get().replace("@host", own));
    await client.until(/\{"echo":""\}[^]*\{"echo":""\}/);
    client.socket.end();
    assert.deepEqual(statusesOf(await client.closed), [200, 200]);
    const [early, next, ...others] = upstream.connections;
    assert.deepEqual([early?.requests, early?.fault, others], [[], null, []]);
    assert.deepEqual(
      next?.requests.map(({ start }) => start),
      ["GET /v1/models HTTP/1.1"],
    );
  });

  test(
    `the rest of ${what} is not sent while the usage of an early response is still being read`,
    LIMIT,
    async (t) => {
      const decoders = holdDecoders(t);
      const response = rawResponse("{}", "content-encoding: gzip\r\n");
      const { upstream, gate } = await startGateWithRawUpstream(
        t,
        (_request, { socket }) => socket.write(response),
        {
          at: "head",
        },
      );
      const own = `127.0.0.1:${gate.port}`;
      const client = await sendRaw(t, gate.port, post(framing, rest.slice(0, 5)).replace("@host", own));
      await decoders.inputEnded;
      client.write(rest.slice(5));
      await waitUntilHandled(gate);
      decoders.release();
      await client.until(/\{\}$/);
      client.write(get().replace("@host", own));
      await client.until(/\{\}[^]*\{\}$/);
      const [early, next, ...others] = upstream.connections;
      assert.deepEqual([early?.requests, early?.fault, others], [[], null, []]);
      assert.equal(early?.received.includes(rest.slice(5, 50)), false);
      assert.deepEqual(
        next?.requests.map(({ start }) => start),
        ["GET /v1/models HTTP/1.1"],
      );
    },
  );
}

/** Starts an upload of a gibibyte that gets its response after the first bytes. */
async function startUploadWithEarlyResponse(t: TestContext) {
  const upstream = await startRawUpstream(t, echo, { at: "head" });
  const config = { limits: { ...defaultConfig.limits, bodyBytes: 2 ** 30 } };
  const gate = await startGate(t, upstream.baseUrl, { config });
  const client = await rawClient(t, gate.port);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  client.write(post(`Content-Length: ${2 ** 30}`, "first").replace("@host", `127.0.0.1:${gate.port}`));
  await client.until(/\{"echo":""\}/);
  return { client, upstream };
}

test(
  "an upload that continues after an early response is read for 8 MiB, and its connection is then closed",
  LIMIT,
  async (t) => {
    const { client, upstream } = await startUploadWithEarlyResponse(t);
    await new Promise((written) => client.socket.write(Buffer.alloc(8 * 2 ** 20, "x"), written));
    assert.equal(client.socket.readableEnded, false);
    client.write("x");
    await client.closed;
    await upstream.connections[0]?.closed;
    assert.match(upstream.connections[0]?.received ?? "", /\r\n\r\nfirst$/);
    assert.equal(upstream.connections.length, 1);
  },
);

test(
  "the connection of an upload that stops after an early response is closed after 2 s",
  LIMIT,
  async (t) => {
    const { client } = await startUploadWithEarlyResponse(t);
    t.mock.timers.tick(1999);
    assert.equal(client.socket.readableEnded, false);
    t.mock.timers.tick(1);
    await client.closed;
  },
);

test("of sixty pipelined requests no two are in progress at once", LIMIT, async (t) => {
  let [inProgress, most] = [0, 0];
  const { upstream, gate } = await startGateWithRawUpstream(t, (request, connection) => {
    inProgress += 1;
    most = Math.max(most, inProgress);
    setImmediate(() => {
      inProgress -= 1;
      echo(request, connection);
    });
  });
  const client = await rawClient(t, gate.port);
  const own = `127.0.0.1:${gate.port}`;
  client.write(get().replace("@host", own).repeat(59) + get("Connection: close\r\n").replace("@host", own));
  const statuses = statusesOf(await client.closed);
  assert.equal(most, 1);
  assert.equal(statuses.filter((status) => status === 200).length, upstream.requests.length);
  assert.deepEqual(new Set(statuses), new Set([200, 503]));
  assert.ok(statuses.length <= 60);
});

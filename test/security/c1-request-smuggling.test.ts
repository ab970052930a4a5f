// C1, request smuggling: what two readers could understand differently is refused, and what passes is framed anew, so that the upstream sees only requests that were sent as such.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { post as postJson, startGate, TEST_KEY, type TestGate } from "../helpers/gate.ts";
import { statusesOf, valuesOf, type RawMessage } from "../helpers/http-messages.ts";
import { rawClient, type RawClient } from "../helpers/raw-client.ts";
import { echo, startRawUpstream, type RawUpstream } from "../helpers/raw-upstream.ts";
import { SMUGGLING_CASES } from "./smuggling-cases.ts";
import { get, HIDDEN, post, type SmugglingCase } from "./smuggling/case.ts";

/** A hang is a failure too. */
const LIMIT = { timeout: 10_000 };

for (const [group, cases] of Object.entries(SMUGGLING_CASES)) {
  for (const attack of cases) {
    test(`${group}: ${attack.name}: ${attack.answers.join(", ")}`, LIMIT, async (t) => {
      const upstream = await startRawUpstream(t, echo);
      const gate = await startGate(t, upstream.baseUrl);
      await assertServed(gate, "A");
      const received = await mount(t, gate, attack);
      await assertServed(gate, "B");
      assert.deepEqual(statusesOf(received), attack.answers, received);
      assertOnlyRequests(upstream, attack);
    });
  }
}

/** An honest client's request, over the connection that all share, gets its own answer. */
async function assertServed(gate: TestGate, who: string): Promise<void> {
  const res = await postJson(gate, "/v1/messages", { who });
  assert.deepEqual(await res.json(), { echo: JSON.stringify({ who }) });
}

/** Writes the attack part by part; returns all that the attacker gets until its connection is closed. */
async function mount(t: TestContext, gate: TestGate, { parts, answers }: SmugglingCase): Promise<string> {
  const client = await rawClient(t, gate.port);
  for (const [i, part] of parts.entries()) {
    await countOf(client, i);
    client.write(part.replaceAll("@host", `127.0.0.1:${gate.port}`));
  }
  await countOf(client, answers.length);
  client.socket.end();
  return client.closed;
}

/** Waits for so many answers; an attacker that is cut off before gets no more. */
async function countOf(client: RawClient, count: number): Promise<void> {
  await client.until(new RegExp(`(?:HTTP/1\\.1 [0-9]{3}[^]*?){${count}}`)).catch(() => {});
}

/**
 * Strictly read, the upstream's connections hold A, what of the attack is a request, and B. What was begun besides can
 * only be a request whose body never came to its end: its connection was given up with it.
 */
function assertOnlyRequests(upstream: RawUpstream, { answers, forwarded }: SmugglingCase): void {
  const { requests, connections } = upstream;
  assert.deepEqual([requests[0]?.body, requests.at(-1)?.body], [`{"who":"A"}`, `{"who":"B"}`]);
  const seen = requests.slice(1, -1);
  const bodies = seen.map(({ body }) => body);
  assert.deepEqual(bodies, forwarded.slice(0, bodies.length));
  const served = answers.filter((status) => status === 200).length;
  assert.ok(bodies.length >= Math.min(served, forwarded.length), "answered without the upstream");
  for (const request of seen) assertOurs(request);
  for (const { fault } of connections) assert.equal(fault, null);
  for (const { rest } of connections) assert.match(rest, /^$|^POST \/v1\/messages HTTP\/1\.1\r\n/);
  // All shared one connection; a second one is there for B when the attack broke off in mid-request.
  const shared = served > 0 ? 1 : 2;
  assert.ok(connections.length <= shared, `${connections.length} connections`);
  assert.equal(connections.at(-1)?.rest, "");
}

/** Nothing in the head but what we wrote ourselves and the client's content type and `accept`; framed at most once. */
function assertOurs(request: RawMessage): void {
  const isPost = request.start === "POST /v1/messages HTTP/1.1";
  if (!isPost) assert.equal(request.start, "GET /v1/models HTTP/1.1");
  const credential = isPost ? "x-api-key" : "authorization";
  const names = request.headers.map(([name]) => name).filter((name) => !PLAIN.has(name));
  assert.deepEqual(
    names.filter((name) => !FRAMING.has(name)),
    [credential],
  );
  assert.ok(names.length <= 2, names.join());
  assert.ok(valuesOf(request, credential)[0]?.endsWith(TEST_KEY));
}

const PLAIN = new Set([
  "host",
  "content-type",
  "anthropic-version",
  "accept",
  "accept-encoding",
  "connection",
]);
const FRAMING = new Set(["content-length", "transfer-encoding"]);

test(
  "a body that is shorter than announced is not made up by the next client's request",
  LIMIT,
  async (t) => {
    const upstream = await startRawUpstream(t, echo);
    const gate = await startGate(t, upstream.baseUrl);
    await assertServed(gate, "A");
    const client = await rawClient(t, gate.port);
    client.write(post("Content-Length: 500", HIDDEN).replace("@host", `127.0.0.1:${gate.port}`));
    client.socket.end();
    const received = await client.closed;
    await gate.ledger.first(2);
    await assertServed(gate, "B");
    assert.doesNotMatch(received, /^HTTP\/1\.1 200/);
    assert.deepEqual(
      upstream.requests.map(({ body }) => body),
      [`{"who":"A"}`, `{"who":"B"}`],
    );
  },
);

const CHUNK = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`;

for (const [what, framing, rest] of [
  ["an announced body", `Content-Length: ${HIDDEN.length}`, HIDDEN],
  ["a chunked body", "Transfer-Encoding: chunked", CHUNK],
] as const) {
  test(`the rest of ${what} that was answered early becomes no request`, LIMIT, async (t) => {
    const upstream = await startRawUpstream(t, echo, { at: "head" });
    const gate = await startGate(t, upstream.baseUrl);
    const own = `127.0.0.1:${gate.port}`;
    const client = await rawClient(t, gate.port);
    client.write(post(framing, rest.slice(0, 5)).replace("@host", own));
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
}

test("of two thousand requests written at once, no two are under way together", LIMIT, async (t) => {
  let [underWay, most] = [0, 0];
  const upstream = await startRawUpstream(t, (request, connection) => {
    underWay += 1;
    most = Math.max(most, underWay);
    setImmediate(() => {
      underWay -= 1;
      echo(request, connection);
    });
  });
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  const own = `127.0.0.1:${gate.port}`;
  client.write(get().replace("@host", own).repeat(1999) + get("Connection: close\r\n").replace("@host", own));
  const statuses = statusesOf(await client.closed);
  assert.equal(most, 1);
  assert.equal(statuses.filter((status) => status === 200).length, upstream.requests.length);
  assert.deepEqual(new Set(statuses), new Set([200, 400]));
  assert.ok(statuses.length <= 2000);
});

import assert from "node:assert/strict";
import { TEST_KEY } from "../../helpers/gate/gate.ts";
import { valuesOf, type RawMessage } from "../../helpers/client/http-messages.ts";
import type { RawUpstream } from "../../helpers/upstream/raw-upstream.ts";
import type { SmugglingCase } from "./case.ts";

/**
 * Fails unless a strict parser finds on the upstream's connections exactly A, the legitimate requests of the attack, and B. An
 * incomplete request may be there besides: one whose body never ended, and whose connection was closed.
 */
export function assertOnlyRequests(upstream: RawUpstream, { responses, forwarded }: SmugglingCase): void {
  const { requests, connections } = upstream;
  assert.deepEqual([requests[0]?.body, requests.at(-1)?.body], [`{"who":"A"}`, `{"who":"B"}`]);
  const seen = requests.slice(1, -1);
  const bodies = seen.map(({ body }) => body);
  assert.deepEqual(bodies, forwarded.slice(0, bodies.length));
  const served = responses.filter((status) => status === 200).length;
  assert.ok(bodies.length >= Math.min(served, forwarded.length), "a response without the upstream");
  for (const request of seen) assertOurs(request);
  for (const { fault } of connections) assert.equal(fault, null);
  for (const { rest } of connections) assert.match(rest, /^$|^POST \/v1\/messages HTTP\/1\.1\r\n/);
  // All requests share one connection. B needs a second one when the attack ended within a request.
  const shared = served > 0 ? 1 : 2;
  assert.ok(connections.length <= shared, `${connections.length} connections`);
  assert.equal(connections.at(-1)?.rest, "");
}

/** Fails unless the head has only our own headers and the client's content type and `accept`, and is framed at most once. */
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
  "x-tollkeeper-hop",
]);
const FRAMING = new Set(["content-length", "transfer-encoding"]);

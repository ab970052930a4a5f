// B3, method tricks: each route has one method and any other is 405. No header and no other protocol changes the method of a request.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startGate, TEST_KEY } from "../helpers/gate/gate.ts";
import { rawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

const ROUTES = {
  "/v1/models": "GET",
  "/v1/responses": "POST",
  "/v1/messages": "POST",
  "/v1/messages/count_tokens": "POST",
};

/** All methods that Node's parser accepts, except CONNECT, whose target is not a path. */
const METHODS =
  "GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK SEARCH QUERY PURGE LINK UNLINK REPORT MERGE SUBSCRIBE NOTIFY M-SEARCH SOURCE".split(
    " ",
  );

async function openGate(t: Parameters<typeof startGate>[0]) {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  return { upstream, gate: await startGate(t, upstream.baseUrl) };
}

for (const [path, allowed] of Object.entries(ROUTES)) {
  test(`${path} accepts only ${allowed}: any other method is 405 and reaches no upstream`, async (t) => {
    const { upstream, gate } = await openGate(t);
    for (const method of METHODS.filter((name) => name !== allowed)) {
      const lines = [`${method} ${path} HTTP/1.1`, ...jsonHeaders(gate.port)];
      const response = await exchangeRaw(t, gate.port, lines, method === "POST" ? "{}" : "");
      if (response.refusal === null && response.status === 400) continue; // A method that this version of Node does not know.
      assert.deepEqual([method, response.status, response.refusal], [method, 405, "method_not_allowed"]);
      assert.deepEqual(
        response.headers.filter(([name]) => name === "allow"),
        [["allow", allowed]],
      );
    }
    assert.deepEqual([upstream.seen, gate.ledger.records], [[], []]);
  });
}

test("TRACE returns neither the client's headers nor the key", async (t) => {
  const { upstream, gate } = await openGate(t);
  const lines = ["TRACE /v1/messages HTTP/1.1", ...jsonHeaders(gate.port), "X-Mark: from-the-client"];
  const { status, text } = await exchangeRaw(t, gate.port, lines);
  assert.equal(status, 405);
  assert.doesNotMatch(text, new RegExp(`${TEST_KEY}|from-the-client|message/http`));
  assert.deepEqual(upstream.seen, []);
});

for (const target of ["HOST", "127.0.0.1:22", "/v1/messages", "http://HOST/v1/messages"]) {
  test(`CONNECT ${target} opens no tunnel`, async (t) => {
    const { upstream, gate } = await openGate(t);
    let connections = 0;
    upstream.server.on("connection", () => (connections += 1));
    const client = await rawClient(t, gate.port);
    const authority = target.replace("HOST", new URL(upstream.origin).host);
    client.write(`CONNECT ${authority} HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`);
    client.write("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
    assert.doesNotMatch(await client.closed, /^HTTP\/1\.1 2/);
    assert.equal(connections, 0);
  });
}

test("method override headers have no effect and do not reach the upstream", async (t) => {
  const { upstream, gate } = await openGate(t);
  const names = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "x_http_method_override"];
  const overrides = (method: string) => names.map((name) => `${name}: ${method}`);
  const post = [
    "POST /v1/messages?_method=DELETE HTTP/1.1",
    ...jsonHeaders(gate.port),
    ...overrides("DELETE"),
  ];
  assert.equal((await exchangeRaw(t, gate.port, post, "{}")).status, 200);
  const get = ["GET /v1/messages HTTP/1.1", ...jsonHeaders(gate.port), ...overrides("POST")];
  assert.equal((await exchangeRaw(t, gate.port, get)).refusal, "method_not_allowed");
  assert.deepEqual(
    upstream.seen.map(({ method, url }) => [method, url]),
    [["POST", "/v1/messages?_method=DELETE"]],
  );
  assert.doesNotMatch(upstream.seen[0]?.rawHeaders.join("\n") ?? "", /method/i);
});

test("unknown methods and methods in lower case are refused with 400", async (t) => {
  const { upstream, gate } = await openGate(t);
  for (const method of ["get", "Post", "POST\u0000", "FROB", "GETT"]) {
    const { status } = await exchangeRaw(t, gate.port, [
      `${method} /v1/models HTTP/1.1`,
      ...jsonHeaders(gate.port),
    ]);
    assert.equal(status, 400, method);
  }
  assert.deepEqual(upstream.seen, []);
});

test("HTTP/2 with prior knowledge gets no HTTP/2 response", async (t) => {
  const { upstream, gate } = await openGate(t);
  const client = await sendRaw(
    t,
    gate.port,
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000",
  );
  assert.doesNotMatch(await client.closed, /^HTTP\/\S+ [23]/);
  assert.deepEqual(upstream.seen, []);
});

test("an offer of h2c does not bypass a route's method", async (t) => {
  const { upstream, gate } = await openGate(t);
  const offer = [
    "Connection: Upgrade, HTTP2-Settings, close",
    "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
  ];
  const lines = ["DELETE /v1/messages HTTP/1.1", ...jsonHeaders(gate.port), ...offer];
  assert.equal((await exchangeRaw(t, gate.port, lines)).refusal, "method_not_allowed");
  assert.deepEqual(upstream.seen, []);
});

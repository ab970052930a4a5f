import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { post, startGate, TEST_KEY } from "../helpers/gate.ts";
import { rawClient } from "../helpers/raw-client.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream.ts";

// STYLE section 7 lists what http-proxy-3 does to its users; one test per trap, by its number there. Trap 4 (an upstream
// that resets in mid-stream), 7 (headers that are undefined) and 8 (no error listener) are in upstream-faults.test.ts.

test("trap 1: a request with Expect: 100-continue carries our key, and its body", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nx-api-key: placeholder\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
  );
  await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  client.write("{}");
  await client.until(/HTTP\/1\.1 200 OK[^]*end_turn/);
  const [seen] = upstream.seen;
  assert.deepEqual(
    [seen?.headers["x-api-key"], seen?.headers["expect"], seen?.body.toString()],
    [TEST_KEY, undefined, "{}"],
  );
});

test("trap 1: a request that is refused is not asked for its body", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const gate = await startGate(t, upstream.baseUrl);
  gate.keys.values.clear();
  const client = await rawClient(t, gate.port);
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
  );
  const received = await client.until(/key_missing/);
  assert.match(received, /^HTTP\/1\.1 503 /);
});

for (const method of ["DELETE", "OPTIONS"]) {
  test(`trap 2, CVE-2026-29057: a chunked ${method} smuggles no second request`, async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
    const gate = await startGate(t, upstream.baseUrl);
    const hidden = "GET /v1/admin HTTP/1.1\r\nHost: x\r\n\r\n";
    const client = await rawClient(t, gate.port);
    client.write(
      `${method} /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nTransfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
    );
    assert.match(await client.until(/method_not_allowed/), /^HTTP\/1\.1 405 /);
    assert.equal(upstream.seen.length, 0);
  });
}

test("trap 3: hop-by-hop headers stop here, in both directions", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => {
    res.writeHead(200, {
      connection: "x-hop, keep-alive",
      "x-hop": "1",
      "keep-alive": "timeout=3",
      "x-end": "2",
    });
    res.end("{}");
  });
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(
    `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nConnection: X-Mine\r\nX-Mine: 1\r\nTE: trailers\r\nKeep-Alive: 5\r\nProxy-Authorization: Basic x\r\n\r\n`,
  );
  const received = await client.until(/\r\n0\r\n\r\n/);
  const sent = Object.keys(upstream.seen[0]?.headers ?? {});
  for (const name of ["x-mine", "te", "keep-alive", "proxy-authorization"])
    assert.ok(!sent.includes(name), name);
  assert.doesNotMatch(received, /x-hop|timeout=3/i);
  assert.match(received, /x-end: 2/);
});

for (const path of ["/v1/../admin", "/v1/%2e%2e/admin", "//v1/models", "/v1/./models"]) {
  test(`trap 5: ${path} is not normalised into another path`, async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    client.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`);
    assert.match(await client.until(/not_found/), /^HTTP\/1\.1 404 /);
    assert.equal(upstream.seen.length, 0);
  });
}

test("trap 6: under DEBUG=* the library prints no key", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const script = fileURLToPath(new URL("../helpers/one-request.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, upstream.baseUrl], {
    env: { ...process.env, DEBUG: "*", NODE_DEBUG: "http-proxy-3" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  assert.equal(code, 0, printed);
  assert.match(printed, /http-proxy-3/);
  assert.equal(upstream.seen[0]?.headers["x-api-key"], TEST_KEY);
  assert.ok(!printed.includes(TEST_KEY));
});

test("trap 9: the upstream's connection is kept although the client closes its own", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  let connections = 0;
  upstream.server.on("connection", () => (connections += 1));
  const gate = await startGate(t, upstream.baseUrl);
  for (let i = 0; i < 3; i += 1) {
    await (await post(gate, "/v1/messages", {}, { connection: "close" })).text();
  }
  assert.equal(connections, 1);
});

test("trap 9: an upstream's connection: close does not end the client's connection", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => {
    res.setHeader("connection", "close");
    answerJson(res, MESSAGE);
  });
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  const head = `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`;
  client.write(head);
  assert.doesNotMatch(await client.until(/end_turn/), /connection: close/i);
  client.write(head);
  await client.until(/end_turn[^]*end_turn/);
});

test("trap 10: a client that leaves closes the upstream's request", async (t) => {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl, { config: { abort: { graceMs: 0 } } });
  const freed = new Promise((resolve) =>
    upstream.server.once("connection", (socket) => socket.once("close", resolve)),
  );
  const arrived = new Promise((resolve) => upstream.server.once("request", resolve));
  const client = await rawClient(t, gate.port);
  client.write(`GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`);
  await arrived;
  client.socket.destroy();
  await freed;
  assert.equal((await gate.ledger.only()).cut_by, "client");
});

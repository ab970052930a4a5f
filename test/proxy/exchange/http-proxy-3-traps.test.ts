import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { post, startGate, TEST_KEY } from "../../helpers/gate/gate.ts";
import { rawClient } from "../../helpers/client/raw-client.ts";
import { answerJson, MESSAGE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

// STYLE section 7 lists what http-proxy-3 does to its users; one test per trap, by its number there. Trap 2 (CVE-2026-29057)
// is in security/c1-request-smuggling.test.ts, 3 (hop-by-hop) in security/c4-hop-by-hop.test.ts, 4 (an upstream that resets
// in mid-stream) in faults/d2-truncated-answers.test.ts, 5 (normalised paths) in security/b2-path-confusion.test.ts,
// 7 (headers that are undefined) in security/c6-hostile-answers.test.ts, 8 (no error listener) in
// faults/d3-no-second-post.test.ts, 10 (a client that leaves) in faults/d1-client-gone.test.ts.

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

test("trap 6: under DEBUG=* the library prints no key", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const script = fileURLToPath(new URL("../../helpers/client/one-request.ts", import.meta.url));
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

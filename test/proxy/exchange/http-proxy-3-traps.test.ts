import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { rawClient, sendRaw } from "../../helpers/client/raw-client.ts";
import { hastyClock } from "../../helpers/gate/memory.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { post, TEST_KEY } from "../../helpers/gate/gate.ts";
import {
  MESSAGE,
  respondWithMessage,
  sendJson,
  startUpstream,
} from "../../helpers/upstream/scripted-upstream.ts";
import { countConnections } from "../count-connections.ts";

// docs/performance.md section 4 lists what http-proxy-3 does to its users, and which test shows that tollkeeper does not. The
// numbers in the names are those of the list.

/** The head of a Messages request whose client waits for `100 Continue` before it sends a body of two bytes. */
function expectContinue(port: number): string {
  return `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nx-api-key: placeholder\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
}

test("trap 1: a request with Expect: 100-continue is forwarded with our key and its body", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage);
  const client = await sendRaw(t, gate.port, expectContinue(gate.port));
  await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  client.write("{}");
  await client.until(/HTTP\/1\.1 200 OK[^]*end_turn/);
  const [seen] = upstream.seen;
  assert.deepEqual(
    [seen?.headers["x-api-key"], seen?.headers["expect"], seen?.body.toString()],
    [TEST_KEY, undefined, "{}"],
  );
});

test("trap 1: a request with Expect: 100-continue that is refused gets its refusal without 100 Continue", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithMessage);
  gate.keys.values.clear();
  const client = await sendRaw(t, gate.port, expectContinue(gate.port));
  const received = await client.until(/key_missing/);
  assert.match(received, /^HTTP\/1\.1 402 /);
});

test("trap 6: the key is not printed under DEBUG=*", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
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

test("trap 9: the upstream connection is kept although clients close theirs", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage, { clock: hastyClock() });
  const connections = countConnections(upstream.server);
  for (let i = 0; i < 3; i += 1) {
    await (await post(gate, "/v1/messages", {}, { connection: "close" })).text();
  }
  assert.equal(connections(), 1);
});

test("trap 9: the client connection is kept although the upstream closes its own with connection: close", async (t) => {
  const { gate } = await startGateWithUpstream(t, (_seen, res) => {
    res.setHeader("connection", "close");
    sendJson(res, MESSAGE);
  });
  const client = await rawClient(t, gate.port);
  const request = `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`;
  client.write(request);
  assert.doesNotMatch(await client.until(/end_turn/), /connection: close/i);
  client.write(request);
  await client.until(/end_turn[^]*end_turn/);
});

import assert from "node:assert/strict";
import type { AddressInfo, Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { post, startGate } from "../../helpers/gate/gate.ts";
import { rawClient, rawRequest } from "../../helpers/client/raw-client.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { answerJson, MESSAGE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

/** Answers the first bytes of each connection, and nothing after them; returns the base URL. */
async function startShortUpstream(t: TestContext, bytes: string): Promise<string> {
  const answerOnce = (socket: Socket) => socket.once("data", () => socket.write(bytes, "latin1"));
  return (await startTcpUpstream(t, answerOnce)).baseUrl;
}

test("an upstream that is not there is a 502 that says so, and the next request works again", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { port } = upstream.server.address() as AddressInfo;
  const gate = await startGate(t, upstream.baseUrl);
  await new Promise((resolve) => upstream.server.close(resolve));
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_unreachable"]);
  assert.match(await res.text(), /nothing listens there/);
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.error_type, record.status],
    ["rejected", "upstream_unreachable", 502],
  );
  await new Promise<void>((resolve) => upstream.server.listen(port, "127.0.0.1", resolve));
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
});

test("a host name that does not resolve is told apart", async (t) => {
  const gate = await startGate(t, "http://no-such-host.invalid/v1");
  const res = await post(gate, "/v1/responses", {});
  assert.equal(res.status, 502);
  assert.match(await res.text(), /host name/);
});

test("an early answer that has to be decoded leaves no half-used connection for the next request", async (t) => {
  // Small to send and long to decode: the rest of the upload comes while the meter is still at it.
  const start = Buffer.from(`${JSON.stringify(MESSAGE).slice(0, -1)},"pad":"`);
  const body = gzipSync(Buffer.concat([start, Buffer.alloc(60_000_000, "a"), Buffer.from(`"}`)]), {
    level: 1,
  });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
  const gate = await startGate(t, await startShortUpstream(t, head + body.toString("latin1")));
  const client = await rawClient(t, gate.port);
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"model":`,
  );
  await client.until(/^HTTP\/1\.1 200/);
  client.write("x".repeat(991));
  await gate.ledger.only();
  // On a half-used one the next request would wait for ever.
  const next = await rawClient(t, gate.port);
  next.write(rawRequest(gate.port));
  await next.until(/^HTTP\/1\.1 200/);
});

test("an answer that comes before the upload's end reaches the client", async (t) => {
  const body = `{"type":"error","error":{"type":"authentication_error","message":"no"}}`;
  const bytes = `HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const gate = await startGate(t, await startShortUpstream(t, bytes));
  const client = await rawClient(t, gate.port);
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"model":`,
  );
  assert.match(await client.until(/authentication_error/), /^HTTP\/1\.1 401 Unauthorized/);
  assert.equal((await gate.ledger.only()).status, 401);
});

test("connections to the upstream are kept and used again", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  let connections = 0;
  upstream.server.on("connection", () => (connections += 1));
  const gate = await startGate(t, upstream.baseUrl);
  for (let i = 0; i < 5; i += 1) await (await post(gate, "/v1/messages", {})).text();
  assert.equal(connections, 1);
});

import assert from "node:assert/strict";
import type { AddressInfo, Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { beginRequest, rawRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { hastyClock } from "../../helpers/gate/memory.ts";
import { post, startGate, type TestGate } from "../../helpers/gate/gate.ts";
import { MESSAGE, respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { countConnections } from "../count-connections.ts";

/** A gate whose upstream sends `response` at the first bytes of each connection, and nothing after that. */
async function startGateWithEarlyResponse(t: TestContext, response: string): Promise<TestGate> {
  const respondOnce = (socket: Socket) => socket.once("data", () => socket.write(response, "latin1"));
  const upstream = await startTcpUpstream(t, respondOnce);
  return startGate(t, upstream.baseUrl);
}

test("a request to an upstream that does not listen is refused with 502 and the cause, and the next one succeeds once it listens", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage);
  const { port } = upstream.server.address() as AddressInfo;
  await new Promise((resolve) => upstream.server.close(resolve));
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_unreachable"]);
  assert.match(await res.text(), /connection refused/);
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.error_type, record.status],
    ["rejected", "upstream_unreachable", 502],
  );
  await new Promise<void>((resolve) => upstream.server.listen(port, "127.0.0.1", resolve));
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
});

test("a request to an upstream whose host name does not resolve is refused for good with that cause and the command, except on macOS", async (t) => {
  const gate = await startGate(t, "http://no-such-host.invalid/v1");
  const res = await post(gate, "/v1/responses", {});
  // Without a network, macOS says the same of every host.
  const expected =
    process.platform === "darwin" ? [502, "upstream_unreachable"] : [400, "upstream_misconfigured"];
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], expected);
  assert.match(await res.text(), /host name is unknown/);
});

test("a response that came before the upload's end and takes long to decode leaves no half-used connection for the next request", async (t) => {
  // Small to send and long to decode, so that the rest of the upload arrives while the meter is still decoding.
  const start = Buffer.from(`${JSON.stringify(MESSAGE).slice(0, -1)},"pad":"`);
  const body = gzipSync(Buffer.concat([start, Buffer.alloc(60_000_000, "a"), Buffer.from(`"}`)]), {
    level: 1,
  });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
  const gate = await startGateWithEarlyResponse(t, head + body.toString("latin1"));
  const begun = `${beginRequest(gate.port, "Content-Length: 1000")}{"model":`;
  const client = await sendRaw(t, gate.port, begun);
  await client.until(/^HTTP\/1\.1 200/);
  client.write("x".repeat(991));
  await gate.ledger.only();
  // On a half-used connection the next request would wait forever.
  const next = await sendRaw(t, gate.port);
  await next.until(/^HTTP\/1\.1 200/);
});

test("a response that the upstream sends before the upload's end reaches the client", async (t) => {
  const body = `{"type":"error","error":{"type":"authentication_error","message":"no"}}`;
  const bytes = `HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const gate = await startGateWithEarlyResponse(t, bytes);
  const begun = `${beginRequest(gate.port, "Content-Length: 1000")}{"model":`;
  const client = await sendRaw(t, gate.port, begun);
  assert.match(await client.until(/authentication_error/), /^HTTP\/1\.1 401 Unauthorized/);
  assert.equal((await gate.ledger.only()).status, 401);
});

test("consecutive requests share one upstream connection", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage, { clock: hastyClock() });
  const connections = countConnections(upstream.server);
  for (let i = 0; i < 5; i += 1) await (await post(gate, "/v1/messages", {})).text();
  assert.equal(connections(), 1);
});

test("a response with which an upstream refuses the rest of a long body, and closes, reaches each client", async (t) => {
  const upstream = await startTcpUpstream(t, (socket) =>
    socket.once("data", () => {
      socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
      socket.destroySoon();
    }),
  );
  const gate = await startGate(t, upstream.baseUrl);
  const request = rawRequest(gate.port, JSON.stringify({ model: "m", input: "x".repeat(20_000_000) }));
  for (let sent = 0; sent < 15; sent += 1) {
    const client = await sendRaw(t, gate.port, request);
    assert.match(await client.closed, /^HTTP\/1\.1 413 /);
  }
});

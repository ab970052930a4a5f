import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Sandbox } from "../../src/sandbox/server.ts";
import {
  chatRequest,
  messageRequest,
  openSandbox,
  post,
  responsesRequest,
  valueAt,
} from "./sandbox-client.ts";

/** A connection, and what it has received. */
interface RawExchange {
  socket: Socket;
  received: number[];
}

/**
 * Sends a chat completion request on a connection of its own. It reads byte by byte, because a reset that is seen together
 * with the last bytes looks like an end (libuv's `uv__stream_io`).
 */
function sendRaw(sandbox: Sandbox, xSandbox: string, more = {}): RawExchange {
  const { hostname, port, pathname } = new URL(sandbox.baseUrl);
  const body = JSON.stringify(chatRequest(more));
  const head = [
    `POST ${pathname}/chat/completions HTTP/1.1`,
    "host: x",
    `authorization: Bearer ${sandbox.keys[0]?.secret}`,
    `x-sandbox: ${xSandbox}`,
    `content-length: ${body.length}`,
  ];
  const buffer = Buffer.alloc(1);
  const received: number[] = [];
  const callback = () => received.push(buffer[0] ?? 0) > 0;
  const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback } });
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  return { socket, received };
}

/** Waits for the end of a connection; `fault` is the code of the error that it ended with. */
async function readRaw({
  socket,
  received,
}: RawExchange): Promise<{ text: string; fault: string | undefined }> {
  let fault: string | undefined;
  socket.on("error", (error: NodeJS.ErrnoException) => (fault = error.code));
  await new Promise((resolve) => socket.once("close", resolve));
  return { text: Buffer.from(received).toString(), fault };
}

const bodyOf = (text: string) => text.slice(text.indexOf("\r\n\r\n") + 4);

test("reset executes and bills the request, then resets the connection before the first byte", async (t) => {
  const sandbox = await openSandbox(t);
  assert.deepEqual(await readRaw(sendRaw(sandbox, "reset")), { text: "", fault: "ECONNRESET" });
  assert.equal(sandbox.executions().length, 1);
  assert.equal(valueAt(sandbox.counts(), 0, "count", "output"), 8);
});

test("reset with cut=1 resets the connection after the first byte of a JSON body", async (t) => {
  const sandbox = await openSandbox(t);
  const { text, fault } = await readRaw(sendRaw(sandbox, "reset, cut=1"));
  assert.equal(bodyOf(text), "{");
  assert.equal(fault, "ECONNRESET");
});

test("reset with cut=N resets the connection after N events of a stream, or after its headers", async (t) => {
  const sandbox = await openSandbox(t);
  const one = await readRaw(sendRaw(sandbox, "reset, cut=1", { stream: true }));
  assert.equal(one.text.split("data: ").length - 1, 1);
  assert.equal(one.fault, "ECONNRESET");
  const closed = await readRaw(sendRaw(sandbox, "cut=1", { stream: true }));
  assert.equal(closed.fault, undefined);
  const none = await readRaw(sendRaw(sandbox, "reset, cut=0", { stream: true }));
  assert.match(none.text, /^HTTP\/1\.1 200 OK\r\n/);
  assert.equal(bodyOf(none.text), "");
  assert.equal(none.fault, "ECONNRESET");
});

test("hang executes and bills the request, keeps the connection open, and sends nothing", async (t) => {
  const sandbox = await openSandbox(t);
  const { socket, received } = sendRaw(sandbox, "hang");
  // The books tell that the request has arrived; a later request on another connection is answered meanwhile.
  while (sandbox.executions().length === 0) await setImmediate();
  assert.equal((await post(sandbox, "/chat/completions", chatRequest())).status, 200);
  assert.deepEqual(received, []);
  assert.equal(socket.readyState, "open");
  assert.equal(valueAt(sandbox.counts(), 0, "count", "output"), 16);
  socket.destroy();
});

for (const status of [429, 503, 529]) {
  test(`error=${status} with retry-after=7 tells the client to wait 7 seconds, and executes nothing`, async (t) => {
    const sandbox = await openSandbox(t);
    const headers = { "x-sandbox": `error=${status}, retry-after=7` };
    const response = await post(sandbox, "/chat/completions", chatRequest({ stream: true }), headers);
    assert.equal(response.status, status);
    assert.equal(response.headers.get("retry-after"), "7");
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(typeof valueAt(await response.json(), "error", "message"), "string");
    assert.deepEqual(sandbox.executions(), []);
  });
}

for (const [path, request] of [
  ["/messages", messageRequest()],
  ["/responses", responsesRequest()],
  ["/chat/completions", chatRequest()],
  ["/chat/completions", chatRequest({ stream: true })],
] as const) {
  test(`error-in-200 sends an error body with status 200 on ${path}, and bills nothing`, async (t) => {
    const sandbox = await openSandbox(t);
    const response = await post(sandbox, path, request, { "x-sandbox": "error-in-200" });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.match(String(valueAt(await response.json(), "error", "message")), /asked to fail/);
    assert.equal(valueAt(sandbox.counts(), 0, "count", "requests"), 1);
    assert.equal(valueAt(sandbox.counts(), 0, "count", "output"), 0);
  });
}

test("a switch after a name and a colon is for the sandbox of that name only", async (t) => {
  const headers = { "x-sandbox": "one:error=429, openai:error=529, gzip" };
  const statusOf = async (sandbox: Sandbox) => {
    const response = await post(sandbox, "/chat/completions", chatRequest(), headers);
    await response.arrayBuffer();
    return [response.status, response.headers.get("content-encoding")];
  };
  assert.deepEqual(await statusOf(await openSandbox(t, { name: "one" })), [429, "gzip"]);
  assert.deepEqual(await statusOf(await openSandbox(t, { profile: "openai" })), [529, "gzip"]);
  assert.deepEqual(await statusOf(await openSandbox(t)), [200, "gzip"]);
});

test("an unknown switch for another sandbox gets 400 all the same", async (t) => {
  const sandbox = await openSandbox(t);
  const headers = { "x-sandbox": "other:eror=429" };
  assert.equal((await post(sandbox, "/chat/completions", chatRequest(), headers)).status, 400);
});

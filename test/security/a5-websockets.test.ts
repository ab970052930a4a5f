// A5, WebSockets: none is opened unless an upstream has "websocket": "auto", and then on /responses alone, and never for a web page. Any other
// handshake is refused with 426 on any path, and its connection is closed. An offer of h2c is ignored.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { noBrowser } from "../helpers/client/browser.ts";
import { openChromium } from "../helpers/client/chromium.ts";
import { refusedSocket } from "../helpers/client/websocket.ts";
import { acceptHandshake, startUpgradeUpstream } from "../helpers/upstream/websocket-upstream.ts";
import { listenOnLoopback } from "../helpers/upstream/loopback-port.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { rawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

async function openGate(t: TestContext) {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  return { upstream, gate: await startGate(t, upstream.baseUrl) };
}

/** The opening handshake of a WebSocket (RFC 6455 section 4.1). */
function handshake(path: string, host: string, upgrade = "websocket"): string {
  return [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: keep-alive, Upgrade",
    `Upgrade: ${upgrade}`,
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    "\r\n",
  ].join("\r\n");
}

/** Sends a handshake and returns the head of the response. */
async function readHead(t: TestContext, port: number, request: string): Promise<string> {
  const client = await sendRaw(t, port, request);
  return client.until(/\r\n\r\n/);
}

const REFUSED = /^HTTP\/1\.1 426 [^]*\r\nx-tollkeeper-refusal: upgrade_not_supported\r\n/;

for (const path of [
  "/v1/responses",
  "/v1/messages",
  "/t/codex/v1/responses",
  "/",
  "/nowhere",
  "/_tollkeeper/tail",
]) {
  test(`a WebSocket handshake on ${path} is refused with 426`, async (t) => {
    const { upstream, gate } = await openGate(t);
    const request = handshake(path, `127.0.0.1:${gate.port}`);
    assert.match(await readHead(t, gate.port, request), REFUSED);
    assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
  });
}

for (const path of ["/v1/chat/completions", "/v1/realtime", "/nowhere"]) {
  test(`a WebSocket handshake on ${path} is told which path has one, and what to use instead`, async (t) => {
    const { gate } = await openGate(t);
    const client = await sendRaw(t, gate.port, handshake(path, `127.0.0.1:${gate.port}`));
    const response = await client.closed;
    assert.match(response, /only \/v1\/responses and Google's Live API have one/);
    assert.match(response, /use POST here/);
    assert.match(response, /tollkeeper check/);
  });
}

for (const upgrade of ["WebSocket", "WEBSOCKET", "websocket/13", "h2c, websocket", "websocket,h2c"]) {
  test(`Upgrade: ${upgrade} is refused as a WebSocket handshake`, async (t) => {
    const { gate } = await openGate(t);
    const request = handshake("/v1/responses", `127.0.0.1:${gate.port}`, upgrade);
    assert.match(await readHead(t, gate.port, request), REFUSED);
  });
}

test("a WebSocket handshake is refused for a foreign Origin or Host before it is refused as such", async (t) => {
  const { gate } = await openGate(t);
  const page = handshake("/v1/responses", `127.0.0.1:${gate.port}\r\nOrigin: https://evil.example`);
  assert.match(await readHead(t, gate.port, page), /origin_not_allowed/);
  const rebound = handshake("/v1/responses", `evil.example:${gate.port}`);
  assert.match(await readHead(t, gate.port, rebound), /host_not_allowed/);
});

/** A connection that stays open would last until its idle limit. */
const LIMIT = { timeout: 300_000 };

test(
  "after a WebSocket handshake the connection is closed and nothing more is read from it",
  LIMIT,
  async (t) => {
    const { upstream, gate } = await openGate(t);
    const client = await rawClient(t, gate.port);
    const host = `127.0.0.1:${gate.port}`;
    client.write(`${handshake("/v1/responses", host)}GET /v1/models HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    assert.deepEqual((await client.closed).match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 426"]);
    assert.equal(upstream.seen.length, 0);
  },
);

for (const connection of ["Upgrade, HTTP2-Settings, close", "close"]) {
  test(`an offer of h2c with Connection: ${connection} is ignored and the request is served`, async (t) => {
    const { upstream, gate } = await openGate(t);
    // As Java's HTTP client sends it.
    const { status, text } = await exchangeRaw(t, gate.port, [
      "GET /v1/models HTTP/1.1",
      `Host: localhost:${gate.port}`,
      `Connection: ${connection}`,
      "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
    ]);
    assert.equal(status, 200);
    assert.doesNotMatch(text, /101 Switching/);
    const sent = Object.keys(upstream.seen[0]?.headers ?? {});
    assert.ok(!sent.includes("upgrade") && !sent.includes("http2-settings"));
  });
}

test("the preface of HTTP/2 is refused with 400", async (t) => {
  const { upstream, gate } = await openGate(t);
  const client = await sendRaw(t, gate.port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  assert.match(await client.closed, /^HTTP\/1\.1 400 /);
  assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
});

/** A gate that opens WebSockets. */
async function openWebSocketGate(t: TestContext, allowedOrigins: string[] = []) {
  const upstream = await startUpgradeUpstream(t, acceptHandshake);
  const listen = { ...defaultConfig.listen, allowedOrigins };
  const gate = await startGate(t, upstream.baseUrl, { config: { listen }, upstream: { websocket: "auto" } });
  return { upstream, gate };
}

for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1", "vscode-webview://x"]) {
  test(`a handshake with the Origin ${origin} is refused with 403, and the upstream is not dialled, even if the origin is listed`, async (t) => {
    const { upstream, gate } = await openWebSocketGate(t, [origin]);
    const { status, headers } = await refusedSocket(gate, { headers: { origin } });
    assert.deepEqual([status, headers["x-tollkeeper-refusal"]], [403, "origin_not_allowed"]);
    assert.equal(upstream.handshakes.length, 0);
  });
}

test("a handshake with a header that only browsers send is refused with 403", async (t) => {
  const { upstream, gate } = await openWebSocketGate(t);
  for (const headers of [{ "sec-fetch-site": "same-origin" }, { "sec-fetch-dest": "websocket" }])
    assert.equal((await refusedSocket(gate, { headers })).status, 403);
  assert.equal(upstream.handshakes.length, 0);
});

test(
  "a page in a browser gets no WebSocket, and the upstream is not dialled",
  { skip: noBrowser },
  async (t) => {
    const { upstream, gate } = await openWebSocketGate(t);
    const other = createServer((_req, res) =>
      res.writeHead(200, { "content-type": "text/html" }).end("page"),
    );
    const port = await listenOnLoopback(other);
    t.after(() => {
      other.closeAllConnections();
      other.close();
    });
    const { page, problems } = await openChromium(t);
    const tried = [`ws://127.0.0.1:${gate.port}/v1/responses`, `ws://evil.test:${gate.port}/v1/responses`];
    for (const from of [`http://127.0.0.1:${port}/`, "data:text/html,<title>page</title>"]) {
      await page.goto(from);
      for (const url of tried) {
        const ended = await page.evaluate(
          `new Promise((resolve) => {
          try {
            const socket = new WebSocket(${JSON.stringify(url)});
            socket.onopen = () => resolve("opened");
            socket.onclose = ({ code }) => resolve(code);
          } catch (error) { resolve(error.name); }
        })`,
        );
        assert.equal(ended, 1006, `${from} to ${url}`);
      }
    }
    assert.ok(
      problems.some((text) => text.includes("403")),
      problems.join("\n"),
    );
    assert.equal(upstream.handshakes.length + gate.ledger.records.length, 0);
  },
);

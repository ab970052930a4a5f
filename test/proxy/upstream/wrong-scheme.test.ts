// `http://` where the server speaks TLS, and the reverse: the refusal says which scheme it is, and nothing is tried again.
import assert from "node:assert/strict";
import { createServer as createPlainServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { post, startGate } from "../../helpers/gate/gate.ts";
import { hastyClock } from "../../helpers/gate/memory.ts";
import { makeCertificate } from "../../helpers/upstream/certificate.ts";
import { listenOnLoopback } from "../../helpers/upstream/loopback-port.ts";
import { startRawUpstream } from "../../helpers/upstream/raw-upstream.ts";

const LIMIT = { timeout: 300_000 };

/** The first byte of a handshake (RFC 8446 section 5.1). */
const HANDSHAKE = 0x16;

/** What servers that expect TLS do with a plain request: Node and Python, OpenSSL, HAProxy, nginx, Go. */
const SERVERS: [what: string, respond: (socket: Socket) => void][] = [
  ["closes the connection", (socket) => void socket.end()],
  ["resets the connection", (socket) => void socket.resetAndDestroy()],
  ["sends an alert", (socket) => void socket.end(Buffer.from("15030100020246", "hex"))],
  [
    "responds with a page",
    (socket) =>
      void socket.end(
        "HTTP/1.1 400 Bad Request\r\nServer: nginx\r\nContent-Type: text/html\r\nContent-Length: 65\r\nConnection: close\r\n\r\n<html>400 The plain HTTP request was sent to HTTPS port</html>\r\n\r\n",
      ),
  ],
  [
    "responds with HTTP/1.0",
    (socket) =>
      void socket.end("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"),
  ],
];

/** Starts a server that speaks TLS, and responds so to anything else. Returns its port. */
async function startTls(t: TestContext, respond: (socket: Socket) => void): Promise<number> {
  const { key, cert } = makeCertificate(t, "IP:127.0.0.1");
  const tls = createTlsServer({ key, cert });
  tls.on("tlsClientError", () => {});
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      if (bytes[0] !== HANDSHAKE) return respond(socket);
      socket.pause();
      socket.unshift(bytes);
      tls.emit("connection", socket);
    });
  });
  return listen(t, server);
}

async function listen(t: TestContext, server: Server): Promise<number> {
  const port = await listenOnLoopback(server);
  t.after(() => void server.close());
  return port;
}

for (const [what, respond] of SERVERS) {
  test(
    `a server that speaks TLS and ${what} is named with the URL that was probably meant`,
    LIMIT,
    async (t) => {
      const port = await startTls(t, respond);
      const gate = await startGate(t, `http://127.0.0.1:${port}/v1`);
      const response = await post(gate, "/v1/messages", {});
      assert.deepEqual(
        [
          response.status,
          response.headers.get("x-tollkeeper-refusal"),
          response.headers.get("x-should-retry"),
        ],
        [402, "upstream_misconfigured", "false"],
      );
      assert.match(
        await response.text(),
        /its server speaks TLS, not plain HTTP.*Type: tollkeeper config (?:set upstreams\.default\.baseUrl https:\/\/127\.0\.0\.1:\d+\/v1|edit)"/,
      );
      const record = await gate.ledger.only();
      assert.deepEqual(
        [record.outcome, record.error_type, record.cut_by],
        ["rejected", "upstream_misconfigured", null],
      );
    },
  );
}

test("a server that speaks plain HTTP at an https URL is named likewise", LIMIT, async (t) => {
  const port = await listen(
    t,
    createPlainServer((_req, res) => res.end("{}")),
  );
  const gate = await startGate(t, `https://127.0.0.1:${port}/v1`);
  const response = await post(gate, "/v1/messages", {});
  assert.equal(response.status, 402);
  assert.match(await response.text(), /its server speaks plain HTTP, not TLS/);
});

test("a server that works and responds with 400 is asked once, and its response passes", LIMIT, async (t) => {
  const bad = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n\r\nbad";
  const upstream = await startRawUpstream(t, (_request, { socket }) => void socket.write(bad));
  const gate = await startGate(t, upstream.baseUrl);
  for (let i = 0; i < 3; i += 1) {
    const response = await post(gate, "/v1/messages", {});
    assert.deepEqual([response.status, await response.text()], [400, "bad"]);
  }
  const handshakes = upstream.connections.filter(({ received }) => received.charCodeAt(0) === HANDSHAKE);
  assert.deepEqual([upstream.requests.length, handshakes.length], [3, 1]);
});

test("a server that has responded before is not asked when it breaks the connection", LIMIT, async (t) => {
  const upstream = await startRawUpstream(t, (_request, { socket }) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
  });
  const gate = await startGate(t, upstream.baseUrl, { clock: hastyClock() });
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
  upstream.respondWith((_request, { socket }) => void socket.destroy());
  await assert.rejects(post(gate, "/v1/messages", {}));
  assert.equal(upstream.connections.length, 1);
});

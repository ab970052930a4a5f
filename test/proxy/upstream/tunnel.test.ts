import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Outbound } from "../../../src/core/config/outbound.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { Tunnel } from "../../../src/proxy/upstream/tunnel.ts";
import { holdTime } from "../../helpers/async/hold-time.ts";
import { openPool, sendGet, waitForRelease } from "../../helpers/client/pool.ts";
import { rawClient, rawRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { post, startGate, TEST_KEY, type TestGate } from "../../helpers/gate/gate.ts";
import { makeCertificate } from "../../helpers/upstream/certificate.ts";
import {
  REMOTE_HOST,
  outboundThrough,
  startConnectProxy,
  startRemoteUpstream,
  type ConnectProxyOptions,
} from "../../helpers/upstream/connect-proxy.ts";
import {
  MESSAGE,
  MESSAGE_EVENTS,
  respondWithMessage,
  startHeldUpstream,
  startUpstream,
  type ScriptedUpstream,
} from "../../helpers/upstream/scripted-upstream.ts";
import { hastyClock } from "../../helpers/gate/memory.ts";
import { startTcpUpstream, waitUntilStill } from "../../helpers/upstream/tcp-upstream.ts";

type ProxiedOptions = Partial<ConnectProxyOptions> & { outbound?: Partial<Outbound> };

/** Puts a proxy between `upstream` and a new gate. `remote` is the upstream by the name under which the proxy finds it. */
async function startGateBehindProxy(
  t: TestContext,
  upstream: ScriptedUpstream,
  options: ProxiedOptions = {},
) {
  const { remote, proxy, outbound } = await startProxy(t, upstream, options);
  const config = { outbound: { ...outbound, ...options.outbound } };
  const gate = await startGate(t, remote.baseUrl, { config, clock: hastyClock() });
  return { remote, proxy, outbound: config.outbound, gate };
}

/** Puts a proxy in front of `upstream`. */
async function startProxy(
  t: TestContext,
  upstream: ScriptedUpstream,
  options: Partial<ConnectProxyOptions> = {},
) {
  const remote = await startRemoteUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: remote.port, ...options });
  return { remote, proxy, outbound: outboundThrough(proxy, remote) };
}

/** A gate that reaches an upstream, which responds with a message, through a proxy. */
async function startProxied(t: TestContext, options: ProxiedOptions = {}) {
  const upstream = await startUpstream(t, respondWithMessage);
  return { upstream, ...(await startGateBehindProxy(t, upstream, options)) };
}

/** A gate that reaches an upstream, which hands its response to the test, through a proxy. */
async function startProxiedStream(t: TestContext) {
  const { upstream, held } = await startHeldUpstream(t);
  return { held, ...(await startGateBehindProxy(t, upstream)) };
}

/** A pool whose connections are tunnels. */
async function startTunnelPool(t: TestContext, options: Partial<ConnectProxyOptions> = {}) {
  const upstream = await startUpstream(t, respondWithMessage);
  const { remote, proxy, outbound } = await startProxy(t, upstream, options);
  const { pool } = openPool(t, remote.origin, outbound);
  return { upstream, remote, proxy, pool };
}

test("consecutive requests share one tunnel", async (t) => {
  const { upstream, gate, proxy, remote } = await startProxied(t);
  for (let i = 0; i < 22; i += 1) {
    assert.equal(await (await post(gate, "/v1/messages", {})).text(), JSON.stringify(MESSAGE));
  }
  assert.equal(upstream.seen.length, 22);
  assert.deepEqual(proxy.heads, [
    `CONNECT ${REMOTE_HOST}:4711 HTTP/1.1\r\nhost: ${REMOTE_HOST}:4711\r\n\r\n`,
  ]);
  assert.equal(remote.resumed.length, 1);
});

test("the proxy learns the upstream's address and nothing of the request: no key, path, header or body", async (t) => {
  const { upstream, gate, proxy } = await startProxied(t);
  await (await post(gate, "/v1/messages?beta=true", { model: "sentinel-value" })).text();
  assert.equal(upstream.seen[0]?.headers["x-api-key"], TEST_KEY);
  assert.ok(proxy.received().length > 500);
  for (const secret of [TEST_KEY, "x-api-key", "/v1/messages", "sentinel-value", "user-agent"]) {
    assert.ok(!proxy.received().includes(secret), secret);
  }
});

test("each event of a stream reaches the client through the tunnel before the upstream sends the next one", async (t) => {
  const { held, gate } = await startProxiedStream(t);
  const client = await sendRaw(t, gate.port);
  const response = await held;
  for (const event of MESSAGE_EVENTS) {
    response.write(event);
    // The next one is sent only after this one has arrived.
    await client.until(new RegExp(`${event.slice(0, 40)}[^]*\\n\\n\\r\\n$`));
  }
  response.end();
  await client.until(/\r\n0\r\n\r\n$/);
  assert.equal((await gate.ledger.only()).outcome, "completed");
});

test("a large request body and a large response body pass through the tunnel byte for byte", async (t) => {
  const upstream = await startUpstream(t, ({ body }, res) => {
    res.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
  });
  const { gate } = await startGateBehindProxy(t, upstream);
  const body = { text: "0123456789".repeat(500_000) };
  const res = await post(gate, "/v1/messages", body);
  assert.equal(await res.text(), JSON.stringify(body));
});

test("the tunnel of a client that disconnects is closed", async (t) => {
  const { held, gate, proxy } = await startProxiedStream(t);
  const client = await sendRaw(t, gate.port);
  await held;
  const [socket] = proxy.sockets;
  assert.ok(socket);
  const closed = once(socket, "close");
  client.socket.destroy();
  await closed;
  assert.equal((await gate.ledger.only()).cut_by, "client");
});

test("an upstream that resets its connection in mid-stream cuts the client's response, also through a tunnel", async (t) => {
  const { held, gate } = await startProxiedStream(t);
  const client = await sendRaw(t, gate.port);
  const response = await held;
  response.write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);
  response.socket?.resetAndDestroy();
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);
  assert.equal((await gate.ledger.only()).cut_by, "upstream");
});

test("a second tunnel resumes the TLS session of the first", async (t) => {
  const { remote, proxy, pool } = await startTunnelPool(t);
  for (let i = 0; i < 3; i += 1) (await waitForRelease(sendGet(pool))).destroy();
  assert.deepEqual(remote.resumed, [false, true, true]);
  assert.equal(proxy.heads.length, 3);
});

test("an idle tunnel whose upstream closes its end is closed at once", { timeout: 300_000 }, async (t) => {
  // Otherwise the pool's sweep would close it in the end.
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { upstream, proxy, pool } = await startTunnelPool(t);
  const first = await waitForRelease(sendGet(pool));
  const closed = [first, ...proxy.sockets].map((socket) => once(socket, "close"));
  for (const socket of upstream.sockets) socket.end();
  await Promise.all(closed);
  assert.notEqual(await waitForRelease(sendGet(pool)), first);
});

test("a proxy with an https address is reached over TLS, and its certificate is verified", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const certificate = makeCertificate(t, "IP:127.0.0.1");
  const { proxy, outbound, remote } = await startProxy(t, upstream, { certificate });
  const askTrusting = async (authorities: string[]) => {
    const gate = await startGate(t, remote.baseUrl, { config: { outbound: { ...outbound, authorities } } });
    return post(gate, "/v1/messages", {});
  };
  const refused = await askTrusting(outbound.authorities);
  assert.equal(refused.headers.get("x-tollkeeper-refusal"), "upstream_misconfigured");
  assert.match(
    await refused.text(),
    /the proxy cannot be reached: its certificate is self-signed\. .*outbound\.caFile/,
  );
  assert.equal(proxy.heads.length, 0);
  assert.equal((await askTrusting([...outbound.authorities, certificate.cert.toString()])).status, 200);
  assert.equal(proxy.heads.length, 1);
});

test("user name and password are sent to the proxy, decoded and as basic authentication, and not to the upstream", async (t) => {
  const { upstream, gate, proxy } = await startProxied(t, {
    respondWith: (head) =>
      head.includes("proxy-authorization: Basic YWRhOnDDpHNzOndvcmQ=\r\n") ? null : rawStatus(407),
  });
  const { outbound } = gate.gate.settings.config;
  assert.ok(outbound.proxy);
  const credentials = new Secret("ada:p\u00e4ss:word");
  gate.gate.use({
    ...gate.gate.settings,
    config: {
      ...gate.gate.settings.config,
      outbound: { ...outbound, proxy: { ...outbound.proxy, credentials } },
    },
  });
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
  assert.equal(proxy.heads.length, 1);
  assert.doesNotMatch(JSON.stringify(upstream.seen), /proxy-authorization|YWRh/i);
});

test("an upstream on this machine, and one that noProxy names, are reached without the proxy", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const { remote, proxy, outbound } = await startProxy(t, upstream);
  const local = await startGate(t, upstream.baseUrl, { config: { outbound } });
  assert.equal((await post(local, "/v1/messages", {})).status, 200);
  // Only the proxy can look this host up. That it is not found shows that the proxy was not asked.
  const direct = await startGate(t, remote.baseUrl, {
    config: { outbound: { ...outbound, noProxy: [".far.invalid"] } },
  });
  assert.match(
    await (await post(direct, "/v1/messages", {})).text(),
    /its host name (is unknown|cannot be looked up)/,
  );
  assert.deepEqual(proxy.sockets, []);
});

/** The complete response of a proxy that opens no tunnel. */
function rawStatus(status: number, fields = "proxy-authenticate: Basic realm=x\r\n"): string {
  return `HTTP/1.1 ${status} Some words\r\n${fields}content-length: 2\r\n\r\nno`;
}

/** Whether a retry may help, or every one would fail until the configuration is changed. */
type Prospect = "upstream_unreachable" | "upstream_misconfigured";

const REFUSALS: [
  proxy: string,
  respondWith: ConnectProxyOptions["respondWith"],
  message: RegExp,
  code: Prospect,
][] = [
  [
    "that asks for a user",
    () => rawStatus(407),
    /the proxy requires a user name and password\. Write them into \\"outbound.httpsProxy\\" as .*Type: tollkeeper config edit"/,
    "upstream_misconfigured",
  ],
  [
    "that asks for another authentication than basic",
    () => rawStatus(407, "Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n"),
    /the proxy requires authentication other than a user name and password\. Run a local proxy/,
    "upstream_misconfigured",
  ],
  [
    "that forbids the upstream",
    () => rawStatus(403),
    /the proxy does not allow connections to it \(403\)\. .*outbound\.noProxy/,
    "upstream_misconfigured",
  ],
  [
    "that cannot reach the upstream",
    () => rawStatus(502),
    /the proxy cannot reach it \(502\)/,
    "upstream_unreachable",
  ],
  [
    "that closes the connection without a response",
    (_head, socket) => {
      socket.end();
      return "";
    },
    /the proxy closed the connection without a response\. Correct \\"outbound.httpsProxy\\"/,
    "upstream_unreachable",
  ],
  [
    "that resets the connection",
    (_head, socket) => {
      socket.resetAndDestroy();
      return "";
    },
    /the proxy closed the connection without a response/,
    "upstream_unreachable",
  ],
  [
    "that does not respond with HTTP",
    () => "SSH-2.0-OpenSSH_9.2\r\n",
    /what responds there is not an HTTP proxy/,
    "upstream_misconfigured",
  ],
  [
    "whose response head never ends",
    () => `HTTP/1.1 200 OK\r\nx: ${"x".repeat(20_000)}`,
    /what responds there is not an HTTP proxy/,
    "upstream_misconfigured",
  ],
];

/** Sends a request that must be refused before anything of it reaches the upstream; returns the refusal's body. */
async function expectUnreachable(
  gate: TestGate,
  upstream: ScriptedUpstream,
  code: Prospect = "upstream_unreachable",
): Promise<string> {
  const res = await post(gate, "/v1/messages", {});
  const status = code === "upstream_unreachable" ? 502 : 402;
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [status, code]);
  assert.deepEqual(upstream.seen, []);
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.cut_by, record.error_type, record.status],
    ["rejected", null, code, status],
  );
  return res.text();
}

for (const [description, respondWith, message, code] of REFUSALS) {
  test(`a request through a proxy ${description} is refused as ${code}, with the cause and what to do`, async (t) => {
    const options = respondWith === undefined ? {} : { respondWith };
    const { upstream, gate, proxy } = await startProxied(t, options);
    const body = await expectUnreachable(gate, upstream, code);
    assert.match(body, message);
    assert.ok(!body.includes("127.0.0.1") && !body.includes(String(proxy.port)), body);
  });
}

test("a password that the proxy rejects is refused with a message of its own, and is neither sent to the client nor logged", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const { remote, proxy, outbound } = await startProxy(t, upstream, { respondWith: () => rawStatus(407) });
  const credentials = new Secret("ada:sentinel-value");
  const config = { outbound: { ...outbound, proxy: { origin: proxy.url, credentials } } };
  const gate = await startGate(t, remote.baseUrl, { config, clock: hastyClock() });
  const body = await expectUnreachable(gate, upstream, "upstream_misconfigured");
  assert.match(body, /the proxy rejects the user name and password/);
  assert.ok(!`${body}${gate.log.lines.join("\n")}`.includes("sentinel-value"));
});

test("a request through a proxy that does not listen is refused with 502, and the next one succeeds once it listens", async (t) => {
  const { upstream, gate, proxy } = await startProxied(t);
  proxy.server.close();
  await once(proxy.server, "close");
  assert.match(
    await expectUnreachable(gate, upstream),
    /the proxy cannot be reached: connection refused\. Correct \\"outbound.httpsProxy\\"/,
  );
  proxy.server.listen(proxy.port, "127.0.0.1");
  await once(proxy.server, "listening");
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
});

test("an upstream behind a proxy whose certificate authority is not trusted is refused, with the setting that names one", async (t) => {
  const other = makeCertificate(t, `DNS:${REMOTE_HOST}`).cert.toString();
  for (const authorities of [[], [other]]) {
    const { upstream, gate } = await startProxied(t, { outbound: { authorities } });
    assert.match(
      await expectUnreachable(gate, upstream, "upstream_misconfigured"),
      /its certificate is self-signed\. .*\\"outbound\.caFile\\"\. Type: tollkeeper config edit"/,
    );
  }
});

test("an upstream that closes the tunnel during the TLS handshake is refused as unreachable without blaming the proxy", async (t) => {
  const { upstream, gate } = await startProxied(t, {
    respondWith(_head, socket) {
      socket.end("HTTP/1.1 200 OK\r\n\r\n");
      return "";
    },
  });
  assert.match(
    await expectUnreachable(gate, upstream),
    /it reset the connection before it was established\. Type: tollkeeper doctor"/,
  );
});

/** A tunnel that has sent its CONNECT request, and the proxy's end of its connection, which the test writes to. */
async function openTunnel(t: TestContext): Promise<{ tunnel: Tunnel; proxy: Socket }> {
  const { port, first } = await startTcpUpstream(t, () => {});
  const options = { authority: "a.invalid:443", credential: null };
  const tunnel = new Tunnel(connect(port, "127.0.0.1"), "connect", options);
  t.after(() => tunnel.destroy());
  const proxy = await first;
  assert.match(String((await once(proxy, "data"))[0]), /^CONNECT a\.invalid:443 HTTP\/1\.1\r\n/);
  return { tunnel, proxy };
}

test("a tunnel accepts a response head byte by byte, and delivers what follows the head in the same chunk", async (t) => {
  const { tunnel, proxy } = await openTunnel(t);
  for (const byte of "HTTP/1.1 200 OK\r\nvia: x\r\n\r") {
    proxy.write(byte);
    await setImmediate();
  }
  proxy.end("\nhello");
  assert.equal(await text(tunnel), "hello");
});

test("what is written to a tunnel before the proxy has accepted it is sent after that and not before", async (t) => {
  const { tunnel, proxy } = await openTunnel(t);
  let received = "";
  proxy.on("data", (chunk: Buffer) => (received += chunk.toString()));
  tunnel.write("one ");
  tunnel.write("two");
  await waitUntilStill(() => received.length);
  assert.equal(received, "");
  proxy.write("HTTP/1.1 200 OK\r\n\r\n");
  tunnel.end();
  await once(proxy, "end");
  assert.equal(received, "one two");
});

test("a tunnel that is not read applies back-pressure to the proxy", async (t) => {
  const { tunnel, proxy } = await openTunnel(t);
  proxy.write("HTTP/1.1 200 OK\r\n\r\n");
  const bytes = 50_000_000;
  proxy.end(Buffer.alloc(bytes));
  await waitUntilStill(() => tunnel.readableLength + proxy.writableLength);
  assert.ok(proxy.writableLength > 0);
  assert.ok(tunnel.readableLength < 1_000_000);
  let read = 0;
  for await (const chunk of tunnel) read += (chunk as Buffer).length;
  assert.equal(read, bytes);
});

test("destroying a pool closes a tunnel that is still being opened", async (t) => {
  const { proxy, pool } = await startTunnelPool(t, { respondWith: () => "" });
  const broken = assert.rejects(sendGet(pool).failed, /closed the connection/);
  const [socket] = (await once(proxy.server, "connection")) as [Socket];
  const closed = once(socket, "close");
  pool.destroy();
  await Promise.all([broken, closed]);
});

test("a request through a proxy that never responds is refused with 504 and the proxy's setting, and the connection is closed", async (t) => {
  const { gate, proxy } = await startProxied(t, { respondWith: () => "" });
  const client = await rawClient(t, gate.port);
  const passTime = holdTime(t);
  client.write(rawRequest(gate.port));
  const [socket] = (await once(proxy.server, "connection")) as [Socket];
  const closed = once(socket, "close");
  while (gate.gate.openExchanges === 0 || proxy.heads.length === 0) await setImmediate();
  passTime(30_000);
  const received = await client.until(/\}\}$/);
  assert.match(received, /^HTTP\/1\.1 504 /);
  assert.match(received, /no connection through the proxy \(\\"outbound.httpsProxy\\"\) within 30000 ms/);
  await closed;
});

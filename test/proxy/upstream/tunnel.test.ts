import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Outbound } from "../../../src/core/config/outbound.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { Tunnel } from "../../../src/proxy/upstream/tunnel.ts";
import { makeCertificate } from "../../helpers/upstream/certificate.ts";
import {
  FAR_HOST,
  outboundThrough,
  startConnectProxy,
  startFarUpstream,
  type ConnectProxyOptions,
} from "../../helpers/upstream/connect-proxy.ts";
import { post, startGate, TEST_KEY, type TestGate } from "../../helpers/gate/gate.ts";
import { holdTime } from "../../helpers/async/hold-time.ts";
import { answered, ask, openPool } from "../../helpers/client/pool.ts";
import { rawClient, rawRequest } from "../../helpers/client/raw-client.ts";
import { startTcpUpstream, untilStill } from "../../helpers/upstream/tcp-upstream.ts";
import {
  answerJson,
  MESSAGE,
  MESSAGE_EVENTS,
  startHeldUpstream,
  startUpstream,
  type ScriptedUpstream,
} from "../../helpers/upstream/scripted-upstream.ts";

/** A gate whose upstream is behind a proxy. */
async function startBehind(
  t: TestContext,
  upstream: ScriptedUpstream,
  more: Partial<ConnectProxyOptions> & { outbound?: Partial<Outbound> } = {},
) {
  const far = await startFarUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port, ...more });
  const outbound = { ...outboundThrough(proxy, far), ...more.outbound };
  const gate = await startGate(t, far.baseUrl, { config: { outbound } });
  return { far, proxy, outbound, gate };
}

const answerMessage = (t: TestContext) => startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));

test("22 requests go through one tunnel", async (t) => {
  const upstream = await answerMessage(t);
  const { gate, proxy, far } = await startBehind(t, upstream);
  for (let i = 0; i < 22; i += 1) {
    assert.equal(await (await post(gate, "/v1/messages", {})).text(), JSON.stringify(MESSAGE));
  }
  assert.equal(upstream.seen.length, 22);
  assert.deepEqual(proxy.heads, [`CONNECT ${FAR_HOST}:4711 HTTP/1.1\r\nhost: ${FAR_HOST}:4711\r\n\r\n`]);
  assert.equal(far.resumed.length, 1);
});

test("the proxy sees where to, and nothing of the request: no key, no path, no body", async (t) => {
  const upstream = await answerMessage(t);
  const { gate, proxy } = await startBehind(t, upstream);
  await (await post(gate, "/v1/messages?beta=true", { model: "told-to-nobody" })).text();
  assert.equal(upstream.seen[0]?.headers["x-api-key"], TEST_KEY);
  assert.ok(proxy.seen().length > 500);
  for (const secret of [TEST_KEY, "x-api-key", "/v1/messages", "told-to-nobody", "user-agent"]) {
    assert.ok(!proxy.seen().includes(secret), secret);
  }
});

test("events of a stream arrive one by one through the tunnel", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { gate } = await startBehind(t, upstream);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const answer = await held;
  for (const event of MESSAGE_EVENTS) {
    answer.write(event);
    // The next one is sent only when this one is there.
    await client.until(new RegExp(`${event.slice(0, 40)}[^]*\\n\\n\\r\\n$`));
  }
  answer.end();
  await client.until(/\r\n0\r\n\r\n$/);
  assert.equal((await gate.ledger.only()).outcome, "completed");
});

test("a large body goes up, and a large answer comes down, byte for byte", async (t) => {
  const upstream = await startUpstream(t, ({ body }, res) => {
    res.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
  });
  const { gate } = await startBehind(t, upstream);
  const body = { text: "0123456789".repeat(500_000) };
  const res = await post(gate, "/v1/messages", body);
  assert.equal(await res.text(), JSON.stringify(body));
});

test("a client that leaves takes its tunnel along", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { gate, proxy } = await startBehind(t, upstream);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  await held;
  const [socket] = proxy.sockets;
  assert.ok(socket);
  const closed = once(socket, "close");
  client.socket.destroy();
  await closed;
  assert.equal((await gate.ledger.only()).cut_by, "client");
});

test("an upstream that breaks in mid-stream breaks the client's connection through the tunnel, too", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { gate } = await startBehind(t, upstream);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const answer = await held;
  answer.write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);
  answer.socket?.resetAndDestroy();
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);
  assert.equal((await gate.ledger.only()).cut_by, "upstream");
});

test("a second tunnel resumes the TLS session of the first", async (t) => {
  const upstream = await answerMessage(t);
  const far = await startFarUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port });
  const { pool } = openPool(t, far.origin, outboundThrough(proxy, far));
  for (let i = 0; i < 3; i += 1) (await answered(ask(pool))).destroy();
  assert.deepEqual(far.resumed, [false, true, true]);
  assert.equal(proxy.heads.length, 3);
});

test("an idle tunnel that the upstream has ended is closed at once", { timeout: 10_000 }, async (t) => {
  // The pool's look around would close it in the end.
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const upstream = await answerMessage(t);
  const far = await startFarUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port });
  const { pool } = openPool(t, far.origin, outboundThrough(proxy, far));
  const first = await answered(ask(pool));
  const closed = [first, ...proxy.sockets].map((socket) => once(socket, "close"));
  for (const socket of upstream.sockets) socket.end();
  await Promise.all(closed);
  assert.notEqual(await answered(ask(pool)), first);
});

test("a proxy is spoken to over TLS where its address says https, and its certificate is verified", async (t) => {
  const upstream = await answerMessage(t);
  const certificate = makeCertificate(t, "IP:127.0.0.1");
  const { proxy, outbound, far } = await startBehind(t, upstream, { certificate });
  const through = async (authorities: string[]) => {
    const gate = await startGate(t, far.baseUrl, { config: { outbound: { ...outbound, authorities } } });
    return post(gate, "/v1/messages", {});
  };
  const refused = await through(outbound.authorities);
  assert.equal(refused.status, 502);
  assert.match(
    await refused.text(),
    /the proxy cannot be reached: its certificate is self-signed; .*outbound\.caFile/,
  );
  assert.equal(proxy.heads.length, 0);
  assert.equal((await through([...outbound.authorities, certificate.cert.toString()])).status, 200);
  assert.equal(proxy.heads.length, 1);
});

test("user name and password are shown to the proxy, decoded and in basic form, and to nobody else", async (t) => {
  const upstream = await answerMessage(t);
  const { gate, proxy } = await startBehind(t, upstream, {
    answer: (head) =>
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

test("an upstream that noProxy names, and one on this machine, are reached directly", async (t) => {
  const upstream = await answerMessage(t);
  const direct = await startFarUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: direct.port });
  const outbound = outboundThrough(proxy, direct);
  const near = await startGate(t, upstream.baseUrl, { config: { outbound } });
  assert.equal((await post(near, "/v1/messages", {})).status, 200);
  // Nobody but the proxy can look it up: that it is not found shows that the proxy was not asked.
  const past = await startGate(t, direct.baseUrl, {
    config: { outbound: { ...outbound, noProxy: [".far.invalid"] } },
  });
  assert.match(
    await (await post(past, "/v1/messages", {})).text(),
    /its host name (is not known|cannot be looked up)/,
  );
  assert.deepEqual(proxy.sockets, []);
});

/** A whole answer of a proxy's without a tunnel. */
function rawStatus(status: number, fields = "proxy-authenticate: Basic realm=x\r\n"): string {
  return `HTTP/1.1 ${status} Some words\r\n${fields}content-length: 2\r\n\r\nno`;
}

const REFUSALS: [what: string, answer: ConnectProxyOptions["answer"], words: RegExp][] = [
  [
    "that wants a user",
    () => rawStatus(407),
    /the proxy asks for user name and password; write them into \\"outbound.httpsProxy\\" as .*: tollkeeper config edit/,
  ],
  [
    "that wants another authentication",
    () => rawStatus(407, "Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n"),
    /the proxy asks for an authentication other than user name and password; run a local proxy/,
  ],
  [
    "that forbids the upstream",
    () => rawStatus(403),
    /the proxy does not allow connections to it \(403\); .*outbound\.noProxy/,
  ],
  ["that cannot reach the upstream", () => rawStatus(502), /the proxy finds no way to it \(502\)/],
  [
    "that ends the connection",
    (_head, socket) => {
      socket.end();
      return "";
    },
    /the proxy hung up without an answer; correct \\"outbound.httpsProxy\\"/,
  ],
  [
    "that resets the connection",
    (_head, socket) => {
      socket.resetAndDestroy();
      return "";
    },
    /the proxy hung up without an answer/,
  ],
  ["that is no proxy", () => "SSH-2.0-OpenSSH_9.2\r\n", /what is there is no HTTP proxy/],
  [
    "whose head never ends",
    () => `HTTP/1.1 200 OK\r\nx: ${"x".repeat(20_000)}`,
    /what is there is no HTTP proxy/,
  ],
];

/** Asks once; the refusal's words, after making sure that nothing of the request got anywhere. */
async function refusedBy(gate: TestGate, upstream: ScriptedUpstream): Promise<string> {
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_unreachable"]);
  assert.deepEqual(upstream.seen, []);
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.cut_by, record.error_type],
    ["rejected", null, "upstream_unreachable"],
  );
  return res.text();
}

for (const [what, answer, words] of REFUSALS) {
  test(`a proxy ${what} is a 502 that says so, and what to do`, async (t) => {
    const upstream = await answerMessage(t);
    const { gate, proxy } = await startBehind(t, upstream, answer === undefined ? {} : { answer });
    const said = await refusedBy(gate, upstream);
    assert.match(said, words);
    assert.ok(!said.includes("127.0.0.1") && !said.includes(String(proxy.port)), said);
  });
}

test("a wrong password is told apart from a missing one, and stands nowhere", async (t) => {
  const upstream = await answerMessage(t);
  const far = await startFarUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port, answer: () => rawStatus(407) });
  const credentials = new Secret("ada:told-to-nobody");
  const outbound = { ...outboundThrough(proxy, far), proxy: { origin: proxy.url, credentials } };
  const gate = await startGate(t, far.baseUrl, { config: { outbound } });
  const said = await refusedBy(gate, upstream);
  assert.match(said, /the proxy does not accept user name and password/);
  assert.ok(!`${said}${gate.log.lines.join("\n")}`.includes("told-to-nobody"));
});

test("a proxy that is not there is a 502 that says so, and the next request finds it again", async (t) => {
  const upstream = await answerMessage(t);
  const { gate, proxy } = await startBehind(t, upstream);
  proxy.server.close();
  await once(proxy.server, "close");
  assert.match(
    await refusedBy(gate, upstream),
    /the proxy cannot be reached: nothing listens there; correct \\"outbound.httpsProxy\\"/,
  );
  proxy.server.listen(proxy.port, "127.0.0.1");
  await once(proxy.server, "listening");
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
});

test("an upstream whose authority is unknown is refused in a tunnel as well, with the way to name it", async (t) => {
  const upstream = await answerMessage(t);
  const other = makeCertificate(t, `DNS:${FAR_HOST}`).cert.toString();
  for (const authorities of [[], [other]]) {
    const { gate } = await startBehind(t, upstream, { outbound: { authorities } });
    assert.match(
      await refusedBy(gate, upstream),
      /its certificate is self-signed; .*\\"outbound\.caFile\\": tollkeeper config edit/,
    );
  }
});

test("an upstream that ends within the handshake is unreachable, and the proxy is not blamed", async (t) => {
  const upstream = await answerMessage(t);
  const { gate } = await startBehind(t, upstream, {
    answer(_head, socket) {
      socket.end("HTTP/1.1 200 OK\r\n\r\n");
      return "";
    },
  });
  assert.match(await refusedBy(gate, upstream), /cannot be reached: ECONNRESET/);
});

/** A tunnel to a proxy that is the test's, and the proxy's end of it once the tunnel was asked for. */
async function digTunnel(t: TestContext): Promise<{ tunnel: Tunnel; proxy: Socket }> {
  const { port, first } = await startTcpUpstream(t, () => {});
  const order = { authority: "a.invalid:443", credential: null };
  const tunnel = new Tunnel(connect(port, "127.0.0.1"), "connect", order);
  t.after(() => tunnel.destroy());
  const proxy = await first;
  assert.match(String((await once(proxy, "data"))[0]), /^CONNECT a\.invalid:443 HTTP\/1\.1\r\n/);
  return { tunnel, proxy };
}

test("what comes in one piece with the proxy's head is the first of the tunnel, and a head may come byte by byte", async (t) => {
  const { tunnel, proxy } = await digTunnel(t);
  for (const byte of "HTTP/1.1 200 OK\r\nvia: x\r\n\r") {
    proxy.write(byte);
    await setImmediate();
  }
  proxy.end("\nhello");
  assert.equal(await text(tunnel), "hello");
});

test("what is written too early is sent when the proxy has agreed, and not before", async (t) => {
  const { tunnel, proxy } = await digTunnel(t);
  let received = "";
  proxy.on("data", (piece: Buffer) => (received += piece.toString()));
  tunnel.write("one ");
  tunnel.write("two");
  await untilStill(() => received.length);
  assert.equal(received, "");
  proxy.write("HTTP/1.1 200 OK\r\n\r\n");
  tunnel.end();
  await once(proxy, "end");
  assert.equal(received, "one two");
});

test("a tunnel that nobody reads holds its other end up", async (t) => {
  const { tunnel, proxy } = await digTunnel(t);
  proxy.write("HTTP/1.1 200 OK\r\n\r\n");
  const bytes = 50_000_000;
  proxy.end(Buffer.alloc(bytes));
  await untilStill(() => tunnel.readableLength + proxy.writableLength);
  assert.ok(proxy.writableLength > 0);
  assert.ok(tunnel.readableLength < 1_000_000);
  let read = 0;
  for await (const piece of tunnel) read += (piece as Buffer).length;
  assert.equal(read, bytes);
});

test("a pool's end is that of a tunnel that is still being dug", async (t) => {
  const upstream = await answerMessage(t);
  const far = await startFarUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port, answer: () => "" });
  const { pool } = openPool(t, far.origin, outboundThrough(proxy, far));
  const asked = ask(pool);
  const broken = assert.rejects(once(asked, "close"), /socket hang up/);
  const [socket] = (await once(proxy.server, "connection")) as [Socket];
  const closed = once(socket, "close");
  pool.destroy();
  await Promise.all([broken, closed]);
});

test("a proxy that accepts and says nothing is a 504 that names it, and its connection is closed", async (t) => {
  const upstream = await answerMessage(t);
  const { gate, proxy } = await startBehind(t, upstream, { answer: () => "" });
  const client = await rawClient(t, gate.port);
  const pass = holdTime(t);
  client.write(rawRequest(gate.port));
  const [socket] = (await once(proxy.server, "connection")) as [Socket];
  const closed = once(socket, "close");
  while (gate.gate.openExchanges === 0 || proxy.heads.length === 0) await setImmediate();
  pass(30_000);
  const said = await client.until(/\}\}$/);
  assert.match(said, /^HTTP\/1\.1 504 /);
  assert.match(
    said,
    /did not accept a connection through the proxy \(\\"outbound.httpsProxy\\" in the configuration\) within 30000 ms/,
  );
  await closed;
});

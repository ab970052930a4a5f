// D8, slow and flooding clients: slow clients, large bodies and floods of connections or requests cost bounded memory and hold nobody else up.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { connect, Socket, type AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import { defaultConfig, type Config } from "../../src/core/config.ts";
import { post, startGate, type TestGate } from "../helpers/gate.ts";
import { statusesOf } from "../helpers/http-messages.ts";
import { rawClient, rawRequest } from "../helpers/raw-client.ts";
import { startTcpUpstream, untilStill } from "../helpers/tcp-upstream.ts";
import { answerJson, MESSAGE, SSE, startHeldUpstream, startUpstream } from "../helpers/upstream.ts";
import { measureUsed } from "../helpers/used-memory.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 20_000 };
const MIB = 1024 * 1024;
/** One mebibyte of a body that never ends. */
const PIECE = Buffer.alloc(MIB, "x");
/** What is under way at once in the sockets of all three parties, who share this process. */
const UNDER_WAY_BYTES = 48 * MIB;

function withLimits(changes: Partial<Config["limits"]>): { config: Partial<Config> } {
  return { config: { limits: { ...defaultConfig.limits, ...changes } } };
}

function uploadHead(port: number, framing: string): string {
  return `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
}

async function assertServes(gate: TestGate): Promise<void> {
  assert.equal((await post(gate, "/v1/responses", {})).status, 200);
}

for (const [what, said] of [
  ["no head", ""],
  ["half a head", "POST /v1/messages HTTP/1.1\r\nHo"],
] as const) {
  test(`a client that sends ${what} is hung up on after the limit`, LIMIT, async (t) => {
    const upstream = await startUpstream(t, () => {});
    const gate = await startGate(t, upstream.baseUrl, { headersLimitMs: 50 });
    const client = await rawClient(t, gate.port);
    client.write(said);
    assert.match(await client.closed, /^(?:HTTP\/1\.1 408 [^]*)?$/);
    assert.equal(upstream.sockets.size, 0);
  });
}

test("a client that sends its head byte by byte is hung up on all the same", LIMIT, async (t) => {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl, { headersLimitMs: 50 });
  const client = await rawClient(t, gate.port);
  client.write("GET /v1/models HTTP/1.1\r\nX: ");
  const drip = setInterval(() => client.write("y"), 5);
  t.after(() => clearInterval(drip));
  await client.closed;
});

test(
  "a client that stops within its body gets a 408 after the limit, and the upstream is freed",
  LIMIT,
  async (t) => {
    const upstream = await startUpstream(t, () => {});
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyIdleMs: 50 }));
    const requested = once(upstream.server, "request") as Promise<[IncomingMessage]>;
    const client = await rawClient(t, gate.port);
    client.write(`${uploadHead(gate.port, "Content-Length: 100")}{"model":`);
    const [{ socket }] = await requested;
    const freed = new Promise((resolve) => socket.once("close", resolve));
    const answer = await client.until(/body_timeout[^]*\}\}$/);
    assert.match(answer, /^HTTP\/1\.1 408 [^]*limits\.bodyIdleMs/);
    await freed;
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "client", 408]);
  },
);

test("a silence that the upstream makes by not reading is not the client's", LIMIT, async (t) => {
  const bytes = 16 * MIB;
  const upstream = await startTcpUpstream(t, (socket) => socket.pause());
  const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyIdleMs: 50 }));
  const client = await rawClient(t, gate.port);
  client.write(uploadHead(gate.port, `Content-Length: ${bytes}`));
  for (let sent = 0; sent < bytes; sent += MIB) client.socket.write(PIECE);
  const socket = await upstream.first;
  await untilStill(() => client.socket.writableLength);
  // Silences of clients that begin later, one after another, have run into the limit before the upstream reads on.
  for (let i = 0; i < 3; i += 1) {
    const silent = await rawClient(t, gate.port);
    silent.write(`${uploadHead(gate.port, "Content-Length: 9")}{`);
    await silent.until(/body_timeout/);
  }
  let received = 0;
  socket.on("data", (chunk) => {
    received += chunk.length;
    if (received >= bytes) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  });
  socket.resume();
  assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 OK/);
});

test(
  "a client that does not read holds the upstream back, and is given up when it leaves",
  LIMIT,
  async (t) => {
    let sent = 0;
    const upstream = await startUpstream(t, (_seen, res) => {
      const body = Readable.from(repeat(200), { highWaterMark: 1 });
      body.on("data", () => (sent += MIB));
      body.pipe(res.writeHead(200, SSE));
    });
    const gate = await startGate(t, upstream.baseUrl, { config: { abort: { graceMs: 20 } } });
    const before = measureUsed();
    const client = await rawClient(t, gate.port);
    client.socket.pause();
    client.write(rawRequest(gate.port));
    await once(upstream.server, "request");
    await untilStill(() => sent);
    const grown = measureUsed() - before;
    t.diagnostic(`${sent / MIB} MiB of 200 were let go, ${Math.round(grown / MIB)} MiB are held`);
    assert.ok(sent < UNDER_WAY_BYTES && grown < 16 * MIB, `${sent}, ${grown}`);
    client.socket.destroy();
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by], ["cut", "client"]);
  },
);

function* repeat(times: number): Iterable<Buffer> {
  for (let i = 0; i < times; i += 1) yield PIECE;
}

test("an upload of 200 MiB passes in flat memory, byte for byte", LIMIT, async (t) => {
  const [sent, received] = [createHash("sha256"), createHash("sha256")];
  const upstream = createServer((req, res) => {
    req.on("data", (chunk: Buffer) => received.update(chunk));
    req.on("end", () => answerJson(res, MESSAGE));
  });
  upstream.listen(0, "127.0.0.1");
  t.after(() => upstream.close());
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const gate = await startGate(t, `http://127.0.0.1:${port}/v1`, withLimits({ bodyBytes: 256 * MIB }));
  const before = process.resourceUsage().maxRSS;
  const headers = { "content-type": "application/json" };
  const upload = request(`${gate.url}/v1/messages`, { method: "POST", headers, agent: false });
  const body = Readable.from(repeat(200), { highWaterMark: 1 });
  body.on("data", (piece: Buffer) => sent.update(piece));
  body.pipe(upload);
  const [answer] = (await once(upload, "response")) as [IncomingMessage];
  answer.resume();
  const grown = (process.resourceUsage().maxRSS - before) * 1024;
  assert.ok(grown < 2 * UNDER_WAY_BYTES, `${grown / MIB} MiB`);
  assert.equal(received.digest("hex"), sent.digest("hex"));
  assert.equal((await gate.ledger.only()).bytes_in, 200 * MIB);
});

test(
  "a body announced as too large is refused before it is read, and the answer arrives",
  LIMIT,
  async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyBytes: 1000 }));
    const res = await post(gate, "/v1/responses", { input: "x".repeat(500_000) });
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [413, "body_too_large"]);
    const client = await rawClient(t, gate.port);
    client.write(uploadHead(gate.port, "Content-Length: 1001"));
    assert.match(await client.until(/body_too_large/), /^HTTP\/1\.1 413 /);
    assert.equal(upstream.sockets.size, 0);
  },
);

test(
  "a chunked body that grows too large is refused while it comes, and the upstream is freed",
  LIMIT,
  async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyBytes: 1000 }));
    const requested = once(upstream.server, "request") as Promise<[IncomingMessage]>;
    const client = await rawClient(t, gate.port);
    client.write(uploadHead(gate.port, "Transfer-Encoding: chunked"));
    client.write(`1f4\r\n${"x".repeat(500)}\r\n`);
    const [{ socket }] = await requested;
    const freed = new Promise((resolve) => socket.once("close", resolve));
    client.write(`1f5\r\n${"x".repeat(501)}\r\n`);
    assert.match(await client.until(/body_too_large/), /^HTTP\/1\.1 413 /);
    await freed;
    assert.equal((await gate.ledger.only()).error_type, "body_too_large");
    assert.deepEqual([upstream.seen.length, socket.bytesRead < 1200], [0, true]);
  },
);

test("a body without end is not read for ever after it was refused", LIMIT, async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyBytes: 1000 }));
  const client = await rawClient(t, gate.port);
  client.write(uploadHead(gate.port, `Content-Length: ${1000 * MIB}`));
  await client.until(/body_too_large/);
  let taken = 0;
  for (let i = 0; i < 100; i += 1) client.socket.write(PIECE, (error) => (taken += error ? 0 : MIB));
  await client.closed;
  assert.ok(taken < UNDER_WAY_BYTES, `${taken / MIB} MiB`);
});

test("five thousand idle connections hold nobody up", LIMIT, async (t) => {
  if (openFilesLimit(t) < 11_000) return;
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const gate = await startGate(t, upstream.baseUrl);
  const idle: Socket[] = [];
  t.after(() => idle.forEach((socket) => socket.destroy()));
  while (idle.length < 5000) {
    const socket = connect(gate.port, "127.0.0.1");
    idle.push(socket);
    await once(socket, "connect");
  }
  await assertServes(gate);
  assert.ok(idle.every((socket) => !socket.closed));
});

/** How many descriptors this process may have; 0, with the test skipped and the reason said, when that is too few. */
function openFilesLimit(t: TestContext): number {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files: { soft: number | string } };
  };
  const soft = userLimits?.open_files.soft ?? 0;
  const limit = soft === "unlimited" ? Infinity : Number(soft);
  if (limit >= 11_000) return limit;
  t.diagnostic(`SKIPPED: needs 11000 descriptors, has ${limit} (ulimit -n)`);
  t.skip("needs more descriptors (ulimit -n 11000)");
  return 0;
}

test(
  "at the cap a connection costs the one that was idle longest, never a running answer",
  LIMIT,
  async (t) => {
    const { upstream, held } = await startHeldUpstream(t);
    const { gate, ...rest } = await startGate(t, upstream.baseUrl);
    const running = await rawClient(t, rest.port);
    running.write(rawRequest(rest.port));
    const answer = await held;
    // Sockets that were never connected take no descriptors.
    const idle = Array.from({ length: 10_000 }, () => new Socket());
    for (const socket of idle) gate.accept(socket);
    assert.deepEqual([idle[0]?.destroyed, idle[1]?.destroyed], [true, false]);
    const late = await rawClient(t, rest.port);
    late.write(`HEAD / HTTP/1.1\r\nHost: 127.0.0.1:${rest.port}\r\n\r\n`);
    assert.match(await late.until(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
    assert.deepEqual([idle[1]?.destroyed, idle[2]?.destroyed], [true, false]);
    answer.end("data: the end\n\n");
    await running.until(/the end[^]*\r\n0\r\n\r\n/);
  },
);

test("of two thousand requests sent at once on one connection one is forwarded", LIMIT, async (t) => {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(`GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`.repeat(2000));
  const [, answer] = (await once(upstream.server, "request")) as [unknown, Parameters<typeof answerJson>[0]];
  await untilStill(() => client.socket.writableLength + upstream.seen.length + upstream.sockets.size);
  assert.deepEqual([upstream.seen.length, upstream.sockets.size, gate.gate.openExchanges], [1, 1, 1]);
  answerJson(answer, {});
  client.socket.end();
  const statuses = statusesOf(await client.closed);
  assert.equal(statuses[0], 200);
  assert.deepEqual([...new Set(statuses.slice(1))], [400]);
  assert.deepEqual([upstream.seen.length, gate.ledger.records.length], [1, 1]);
});

import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { RefusalError, type RefusalCode } from "../../../src/core/refusals/refusal.ts";
import { peekModel, type CollectLimits } from "../../../src/proxy/exchange/read-body.ts";
import { SharedBuffer } from "../../../src/proxy/exchange/shared-buffer.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { beginRequest, rawClient, sendRaw, type RawClient } from "../../helpers/client/raw-client.ts";
import { realClock } from "../../helpers/gate/memory.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { withLimits, type GateOptions, type TestGate } from "../../helpers/gate/gate.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";

/** A body whose end was consumed by the peek would keep its reader waiting forever. */
const LIMIT = { timeout: 300_000 };

const PATIENT: CollectLimits = { bodyIdleMs: 20_000, bodyBytes: 128 * 1024 * 1024 };

/** An idle limit that no other timer has. */
const HELD_MS = 12_345;

/**
 * Stops the timers of the limit {@link HELD_MS}: Node 20's mocked ones cannot be refreshed. Returns a function that lets milliseconds pass.
 */
function holdIdleTimer(t: TestContext): (ms: number) => void {
  const held = new Set<{ due: number; end: () => void }>();
  let now = 0;
  const [start, stop] = [globalThis.setTimeout, globalThis.clearTimeout];
  t.mock.method(globalThis, "setTimeout", (end: () => void, ms: number) => {
    if (ms !== HELD_MS) return start(end, ms);
    const timer = { due: now + ms, end, refresh: () => (timer.due = now + ms) };
    held.add(timer);
    return timer;
  });
  t.mock.method(globalThis, "clearTimeout", (timer: never) => held.delete(timer) || stop(timer));
  return (ms) => {
    now += ms;
    for (const timer of held) if (timer.due <= now && held.delete(timer)) timer.end();
  };
}

/** Resolves with the model that a peek found. */
async function peek(req: IncomingMessage, limits: CollectLimits, buffer = new SharedBuffer(2 ** 28)) {
  return (await peekModel(req, limits, buffer, null)).place?.model ?? null;
}

/** Resolves with the whole body. */
type ReadBody = (req: IncomingMessage) => Promise<string>;

/** The ways in which the next step may read the body. */
const READERS: Record<string, ReadBody> = {
  "'data' events": (req) =>
    new Promise((resolve) => {
      let body = "";
      req.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
      req.on("end", () => resolve(body));
    }),
  "read()": (req) =>
    new Promise((resolve) => {
      let body = "";
      const readAll = () => {
        for (let chunk: unknown = req.read(); chunk instanceof Buffer; chunk = req.read()) {
          body += chunk.toString("latin1");
        }
      };
      readAll();
      req.on("readable", readAll);
      req.on("end", () => resolve(body));
    }),
};

/** A request at whose model the server peeks. */
interface PeekedRequest {
  req: IncomingMessage;
  peeked: Promise<string | null>;
  client: RawClient;
}

/** Starts a server that peeks at each request when its head has arrived, as the gate does; returns how to send one. */
async function startPeeking(t: TestContext, limits: CollectLimits = PATIENT, buffer?: SharedBuffer) {
  const onPeek: ((req: IncomingMessage, peeked: Promise<string | null>) => void)[] = [];
  const server = createServer((req) => {
    req.on("error", () => {});
    const peeked = peek(req, limits, buffer);
    peeked.catch(() => {});
    onPeek.shift()?.(req, peeked);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return async (framing: string, firstBytes = ""): Promise<PeekedRequest> => {
    const client = await rawClient(t, port);
    const request = new Promise<PeekedRequest>((resolve) => {
      onPeek.push((req, peeked) => resolve({ req, peeked, client }));
    });
    client.write(beginRequest(port, framing) + firstBytes);
    return request;
  };
}

/** Sends bytes that the server receives as a chunk of their own. */
async function sendChunk({ req, client }: PeekedRequest, bytes: string): Promise<void> {
  const expected = req.socket.bytesRead + bytes.length;
  client.write(bytes);
  while (req.socket.bytesRead < expected) await setImmediate();
}

const isRefusal = (code: RefusalCode) => (error: unknown) =>
  error instanceof RefusalError && error.refusal.code === code;

const hasLength = (body: string) => `Content-Length: ${body.length}`;

const CHUNKED = "Transfer-Encoding: chunked";
const toChunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
const LAST_CHUNK = "0\r\n\r\n";

const MODEL_FIRST = `{"model":"m-1","stream":true,"input":"hello"}`;
const MODEL_LAST = `{"input":"${"x".repeat(100_000)}","model":"m-1"}`;
const MODEL_AT_3_MB = `{"input":"${"x".repeat(3e6)}","model":"m-1"}`;
const MODEL_MISSING = `{"input":"hello","metadata":{"model":"nested"}}`;

for (const [reader, readBody] of Object.entries(READERS)) {
  for (const [kind, body, model] of [
    ["with its model first", MODEL_FIRST, "m-1"],
    ["with its model behind 100 KB", MODEL_LAST, "m-1"],
    ["without a model", MODEL_MISSING, null],
    ["that is not JSON", "x".repeat(1000), null],
    ["that is compressed", gzipSync(MODEL_FIRST).toString("latin1"), null],
  ] as const) {
    test(`a body ${kind} can be read whole with ${reader} after the peek`, LIMIT, async (t) => {
      const send = await startPeeking(t);
      const { req, peeked } = await send(hasLength(body), body);
      assert.equal(await peeked, model);
      assert.equal(await readBody(req), body);
    });

    test(
      `a chunked body ${kind} whose last chunk arrives separately can be read whole with ${reader} after the peek`,
      LIMIT,
      async (t) => {
        const send = await startPeeking(t);
        const request = await send(CHUNKED, toChunk(body));
        await sendChunk(request, LAST_CHUNK);
        assert.equal(await request.peeked, model);
        assert.equal(await readBody(request.req), body);
      },
    );
  }

  test(
    `the model is found, and the body can be read whole with ${reader}, wherever a body is split`,
    LIMIT,
    async (t) => {
      const send = await startPeeking(t);
      for (let at = 0; at <= MODEL_FIRST.length; at += 1) {
        const request = await send(hasLength(MODEL_FIRST), MODEL_FIRST.slice(0, at));
        await sendChunk(request, MODEL_FIRST.slice(at));
        assert.equal(await request.peeked, "m-1", `split at ${at}`);
        assert.equal(await readBody(request.req), MODEL_FIRST, `split at ${at}`);
        request.client.socket.destroy();
      }
    },
  );

  test(
    `the model is found, and the body can be read whole with ${reader}, when each byte arrives as an HTTP chunk of its own`,
    LIMIT,
    async (t) => {
      const send = await startPeeking(t);
      const request = await send(CHUNKED);
      for (const byte of MODEL_FIRST) await sendChunk(request, toChunk(byte));
      await sendChunk(request, LAST_CHUNK);
      assert.equal(await request.peeked, "m-1");
      assert.equal(await readBody(request.req), MODEL_FIRST);
    },
  );

  for (const [kind, framing, bytes] of [
    ["a body of length 0", "Content-Length: 0", ""],
    ["a request without any framing", "X-Framing: none", ""],
    ["an empty chunked body", CHUNKED, LAST_CHUNK],
  ] as const) {
    test(`${kind} has no model, and ends for a reader with ${reader} after the peek`, LIMIT, async (t) => {
      const send = await startPeeking(t);
      const { req, peeked } = await send(framing, bytes);
      assert.equal(await peeked, null);
      assert.equal(await readBody(req), "");
    });
  }

  test(
    `an empty chunked body that arrives after its head ends for a reader with ${reader} after the peek`,
    LIMIT,
    async (t) => {
      const send = await startPeeking(t);
      const request = await send(CHUNKED);
      await sendChunk(request, LAST_CHUNK);
      assert.equal(await request.peeked, null);
      assert.equal(await readBody(request.req), "");
    },
  );

  test(
    `a peek resolves when the model has arrived, and the rest of the body can be read with ${reader} as it arrives`,
    LIMIT,
    async (t) => {
      const send = await startPeeking(t);
      const request = await send(hasLength(MODEL_FIRST), MODEL_FIRST.slice(0, 20));
      assert.equal(await request.peeked, "m-1");
      assert.equal(request.req.complete, false);
      const read = readBody(request.req);
      await sendChunk(request, MODEL_FIRST.slice(20, 30));
      await sendChunk(request, MODEL_FIRST.slice(30));
      assert.equal(await read, MODEL_FIRST);
    },
  );

  test(
    `a model behind the body limit is refused with body_too_large, and what was sent can be read with ${reader}`,
    LIMIT,
    async (t) => {
      const send = await startPeeking(t, { ...PATIENT, bodyBytes: 100 });
      const request = await send(CHUNKED, toChunk(MODEL_LAST.slice(0, 100)));
      await sendChunk(request, toChunk(MODEL_LAST.slice(100, 101)));
      await assert.rejects(request.peeked, isRefusal("body_too_large"));
      const read = readBody(request.req);
      await sendChunk(request, toChunk(MODEL_LAST.slice(101)) + LAST_CHUNK);
      assert.equal(await read, MODEL_LAST);
    },
  );

  test(
    `a client that stops within its body is refused with body_timeout, and what it sent can be read with ${reader}`,
    LIMIT,
    async (t) => {
      const send = await startPeeking(t, { ...PATIENT, bodyIdleMs: 20 });
      const request = await send(hasLength(MODEL_FIRST), MODEL_FIRST.slice(0, 5));
      await assert.rejects(request.peeked, isRefusal("body_timeout"));
      const read = readBody(request.req);
      await sendChunk(request, MODEL_FIRST.slice(5));
      assert.equal(await read, MODEL_FIRST);
    },
  );
}

test(
  "a client that takes longer than the idle limit is not refused while each of its pauses is shorter",
  LIMIT,
  async (t) => {
    const pass = holdIdleTimer(t);
    const send = await startPeeking(t, { ...PATIENT, bodyIdleMs: HELD_MS });
    const request = await send(hasLength(MODEL_FIRST), MODEL_FIRST.slice(0, 1));
    for (let at = 1; at < 5; at += 1) {
      pass(HELD_MS - 1);
      await sendChunk(request, MODEL_FIRST.slice(at, at + 1));
    }
    await sendChunk(request, MODEL_FIRST.slice(5));
    assert.equal(await request.peeked, "m-1");
  },
);

test("a peek resolves with null when the client disconnects within its body", LIMIT, async (t) => {
  const send = await startPeeking(t);
  const { req, peeked, client } = await send(hasLength(MODEL_FIRST), MODEL_FIRST.slice(0, 5));
  client.socket.destroy();
  assert.equal(await peeked, null);
  assert.ok(req.destroyed);
});

test("a peek at a request whose client has disconnected resolves with null", LIMIT, async (t) => {
  const send = await startPeeking(t);
  const { req, client } = await send(hasLength(MODEL_FIRST), MODEL_FIRST.slice(0, 5));
  client.socket.destroy();
  await new Promise<void>((resolve) => req.once("close", resolve));
  assert.equal(await peek(req, PATIENT), null);
});

test("a peek that has resolved changes nothing when its idle limit passes", LIMIT, async (t) => {
  const pass = holdIdleTimer(t);
  const send = await startPeeking(t, { ...PATIENT, bodyIdleMs: HELD_MS });
  const request = await send(hasLength(MODEL_FIRST), MODEL_FIRST.slice(0, 1));
  await sendChunk(request, MODEL_FIRST.slice(1));
  assert.equal(await request.peeked, "m-1");
  pass(HELD_MS);
  await setImmediate();
  assert.equal(request.req.readableLength, MODEL_FIRST.length);
});

test("a peek leaves no listeners on the request", LIMIT, async (t) => {
  const send = await startPeeking(t);
  const { req, peeked } = await send(hasLength(MODEL_LAST), MODEL_LAST);
  await peeked;
  const names = ["readable", "data", "end", "close"];
  assert.deepEqual(
    names.map((name) => req.listenerCount(name)),
    [0, 0, 0, 0],
  );
});

test(
  "a body that waits for its model counts against the buffer, and is refused when that is full",
  LIMIT,
  async (t) => {
    const buffer = new SharedBuffer(100_000);
    const send = await startPeeking(t, PATIENT, buffer);
    const start = `{"input":"${"x".repeat(60_000)}`;
    const first = await send(CHUNKED, toChunk(start));
    while (first.req.socket.bytesRead < start.length) await setImmediate();
    assert.ok(buffer.usedBytes > 0 && !buffer.isFull);
    const second = await send(CHUNKED, toChunk(start));
    await assert.rejects(second.peeked, isRefusal("buffer_full"));
    await sendChunk(first, toChunk('","model":"m-1"}') + LAST_CHUNK);
    assert.equal(await first.peeked, "m-1");
    assert.equal(buffer.usedBytes, 0);
  },
);

/** A gate whose choice of upstream depends on the model, or does not, in front of an upstream that responds with a message. */
async function startPeekingGate(t: TestContext, options: GateOptions = {}, needsModel = true) {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage, options);
  const { config } = gate.gate.settings;
  const upstreams = Object.fromEntries(
    Object.entries(config.upstreams).map(([name, one]) => [
      name,
      { ...one, models: needsModel ? ["*"] : null },
    ]),
  );
  gate.gate.use(prepareSettings({ ...config, upstreams }));
  return { upstream, gate };
}

for (const [kind, framing, sent, body] of [
  ["a small body", hasLength(MODEL_FIRST), MODEL_FIRST, MODEL_FIRST],
  ["a body with its model behind 100 KB", hasLength(MODEL_LAST), MODEL_LAST, MODEL_LAST],
  ["a body with its model behind 3 MB", hasLength(MODEL_AT_3_MB), MODEL_AT_3_MB, MODEL_AT_3_MB],
  [
    "a body with white space after it",
    hasLength(`${MODEL_FIRST} \r\n\t`),
    `${MODEL_FIRST} \r\n\t`,
    `${MODEL_FIRST} \r\n\t`,
  ],
  ["a chunked body", CHUNKED, toChunk(MODEL_LAST) + LAST_CHUNK, MODEL_LAST],
] as const) {
  test(`a gate that needs the model forwards ${kind} unchanged`, LIMIT, async (t) => {
    const { upstream, gate } = await startPeekingGate(t);
    const client = await sendRaw(t, gate.port, beginRequest(gate.port, framing) + sent);
    await client.until(/^HTTP\/1\.1 200 OK[^]*end_turn/);
    assert.equal(upstream.seen[0]?.body.toString("latin1"), body);
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.bytes_in], ["completed", body.length]);
  });
}

test("a gate that needs the model forwards a request without a body", LIMIT, async (t) => {
  const { gate } = await startPeekingGate(t);
  assert.equal((await fetch(`${gate.url}/v1/models`)).status, 200);
});

test(
  "a gate that needs the model forwards a body that arrives in many chunks unchanged",
  LIMIT,
  async (t) => {
    const { upstream, gate } = await startPeekingGate(t);
    const client = await sendRaw(t, gate.port, beginRequest(gate.port, hasLength(MODEL_FIRST)));
    for (const byte of MODEL_FIRST) {
      client.write(byte);
      await setImmediate();
    }
    await client.until(/^HTTP\/1\.1 200 OK[^]*end_turn/);
    assert.equal(upstream.seen[0]?.body.toString(), MODEL_FIRST);
  },
);

for (const needsModel of [true, false]) {
  const condition = needsModel ? "needs" : "does not need";
  test(
    `a gate that ${condition} the model sends 100 Continue once and forwards the body that follows unchanged`,
    LIMIT,
    async (t) => {
      const { upstream, gate } = await startPeekingGate(t, {}, needsModel);
      const framing = `Expect: 100-continue\r\n${hasLength(MODEL_FIRST)}`;
      const client = await sendRaw(t, gate.port, beginRequest(gate.port, framing));
      await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
      assert.equal(upstream.seen.length, 0);
      client.write(MODEL_FIRST);
      const received = await client.until(/HTTP\/1\.1 200 OK[^]*end_turn/);
      assert.equal(received.match(/100 Continue/g)?.length, 1);
      assert.equal(upstream.seen[0]?.body.toString(), MODEL_FIRST);
    },
  );

  test(
    `a gate that ${condition} the model ${needsModel ? "reads" : "does not read"} the body before it has the key`,
    LIMIT,
    async (t) => {
      const { gate } = await startPeekingGate(t, {}, needsModel);
      const requests = collectRequests(t, gate);
      const { started, release } = gate.keys.hold();
      const client = await sendRaw(t, gate.port);
      await started;
      const [req] = requests;
      assert.deepEqual(
        [req?.readableDidRead, req?.listenerCount("data"), req?.listenerCount("readable")],
        [needsModel, 0, 0],
      );
      release();
      await client.until(/^HTTP\/1\.1 200 OK/);
    },
  );
}

test(
  "a gate that needs the model refuses a client that stops within its body with 408, and forwards nothing",
  LIMIT,
  async (t) => {
    const { upstream, gate } = await startPeekingGate(t, withLimits({ ...PATIENT, bodyIdleMs: 20 }));
    const client = await sendRaw(t, gate.port, `${beginRequest(gate.port, "Content-Length: 10")}{`);
    assert.match(await client.closed, /^HTTP\/1\.1 408 [^]*body_timeout/);
    assert.equal(upstream.seen.length, 0);
    assert.equal((await gate.ledger.only()).error_type, "body_timeout");
  },
);

test(
  "a client that disconnects before a gate knows its model leaves no record, because it had no upstream yet",
  LIMIT,
  async (t) => {
    const { upstream, gate } = await startPeekingGate(t);
    const requests = collectRequests(t, gate);
    const client = await sendRaw(t, gate.port, `${beginRequest(gate.port, "Content-Length: 10")}{`);
    while (requests.length === 0) await setImmediate();
    client.socket.destroy();
    const [req] = requests;
    if (req?.closed === false) await new Promise<void>((resolve) => req.once("close", resolve));
    assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
  },
);

test("the duration of a request includes the wait for its model", LIMIT, async (t) => {
  let skipped = 0;
  const clock = { ...realClock, monotonic: () => realClock.monotonic() + skipped };
  const { gate } = await startPeekingGate(t, { clock });
  const requests = collectRequests(t, gate);
  const framing = beginRequest(gate.port, hasLength(MODEL_FIRST));
  const client = await sendRaw(t, gate.port, framing + MODEL_FIRST.slice(0, 5));
  while (requests[0]?.readableDidRead !== true) await setImmediate();
  skipped = 5_000;
  client.write(MODEL_FIRST.slice(5));
  await client.until(/^HTTP\/1\.1 200 OK[^]*end_turn/);
  assert.ok((await gate.ledger.only()).duration_ms >= 5_000);
});

/** The requests that a gate receives from now on. */
function collectRequests(t: TestContext, { port }: TestGate): IncomingMessage[] {
  const requests: IncomingMessage[] = [];
  const onStart = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.socket.localPort === port) requests.push(request);
  };
  subscribe("http.server.request.start", onStart);
  t.after(() => unsubscribe("http.server.request.start", onStart));
  return requests;
}

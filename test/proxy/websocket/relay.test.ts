// What passes on an open WebSocket, what does not wait, and how it ends.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import { writeText } from "../../../src/core/websocket/write-frame.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { isTerminal, openSocket } from "../../helpers/client/websocket.ts";
import { sendRaw } from "../../helpers/client/raw-client.ts";
import { CREATE, openThroughGate } from "../../helpers/gate/gate-with-websocket.ts";
import { startGate, withLimits, type GateOptions } from "../../helpers/gate/gate.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import {
  acceptHandshake,
  begin,
  complete,
  startUpgradeUpstream,
} from "../../helpers/upstream/websocket-upstream.ts";

const LIMIT = { timeout: 300_000 };

/** A gate before an upstream whose bytes the test writes and reads, and the bytes of a client that has opened a WebSocket. */
async function openRaw(t: TestContext, options: GateOptions = {}) {
  const arrived = withResolvers<Socket>();
  const { baseUrl } = await startUpgradeUpstream(t, (socket, request) => {
    acceptHandshake(socket, request);
    arrived.resolve(socket);
  });
  const gate = await startGate(t, baseUrl, { ...options, upstream: { websocket: "auto" } });
  const head = [
    "GET /v1/responses HTTP/1.1",
    `Host: 127.0.0.1:${gate.port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  const client = await sendRaw(t, gate.port, `${head.join("\r\n")}\r\n\r\n`);
  const upstream = await arrived.promise;
  await client.until(/\r\n\r\n/);
  return { gate, client, upstream };
}

/** A frame of a client. */
function mask(opcode: number, payload: Buffer, { isFinal = true, announced = payload.length } = {}): Buffer {
  const key = randomBytes(4);
  const head =
    announced < 126
      ? Buffer.from([0, 0x80 | announced])
      : Buffer.concat([Buffer.from([0, 0x80 | 127]), Buffer.alloc(8)]);
  if (announced >= 126) head.writeBigUInt64BE(BigInt(announced), 2);
  head[0] = (isFinal ? 0x80 : 0) | opcode;
  return Buffer.concat([head, key, payload.map((byte, at) => byte ^ (key[at & 3] ?? 0))]);
}

/** Returns the code of the Close that ends what a client has received. */
function closeCode(received: string): number {
  const bytes = Buffer.from(received, "latin1");
  return bytes.readUInt16BE(bytes.lastIndexOf(0x88) + 2);
}

/** Collects so many bytes. */
async function collect(socket: Socket, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length < bytes) {
    const chunk = (socket.read() ?? (await once(socket, "readable"), socket.read())) as Buffer | null;
    if (chunk === null) continue;
    chunks.push(chunk);
    length += chunk.length;
  }
  return Buffer.concat(chunks);
}

test(
  "the bytes of both sides pass as they are: fragments, masks, long forms of lengths, frames of any type",
  LIMIT,
  async (t) => {
    const { client, upstream } = await openRaw(t);
    const sent = Buffer.concat([
      mask(1, Buffer.from(`{"type":`), { isFinal: false }),
      mask(0, Buffer.from(`"response.processed"}`)),
      mask(2, randomBytes(300)),
      mask(1, Buffer.alloc(0)),
    ]);
    for (const byte of sent) client.socket.write(Buffer.from([byte]));
    assert.deepEqual(await collect(upstream, sent.length), sent);
    const answer = Buffer.concat([
      Buffer.from([0x01, 0x03]),
      Buffer.from(`{"a`),
      Buffer.from([0x89, 0x02]),
      Buffer.from("hi"),
      Buffer.from([0x80, 0x7e, 0x00, 0x04]),
      Buffer.from(`":1}`),
      Buffer.from([0x82, 0x01, 0xff]),
      writeText("x".repeat(70_000)),
      writeText("the end"),
    ]);
    upstream.write(answer);
    const received = await client.until(/the end$/);
    assert.ok(received.endsWith(answer.toString("latin1")));
  },
);

test(
  "a ping between the fragments of a message passes before the message, which waits until it is whole",
  LIMIT,
  async (t) => {
    const { client, upstream } = await openRaw(t);
    const [first, ping, last] = [
      mask(1, Buffer.from(`{"type"`), { isFinal: false }),
      mask(9, Buffer.from("are you there")),
      mask(0, Buffer.from(`:"x"}`)),
    ];
    client.socket.write(Buffer.concat([first, ping]));
    assert.deepEqual(await collect(upstream, ping.length), ping);
    client.socket.write(last);
    assert.deepEqual(await collect(upstream, first.length + last.length), Buffer.concat([first, last]));
  },
);

test(
  "pings pass both ways while a message waits for its judgement, and the message follows",
  LIMIT,
  async (t) => {
    const counted = withResolvers<void>();
    const budgets = {
      counting: counted.promise as Promise<void> | null,
      judge: () => null,
      hold: () => ({ percent: null, reserved: null, release() {} }),
    };
    const { client, upstream } = await openRaw(t, {
      budgets,
      config: rulesForTools({ budgets: [{ usd: 1, per: "day" }] }),
    });
    const [message, ping] = [mask(1, Buffer.from(JSON.stringify(CREATE))), mask(9, Buffer.from("ping"))];
    client.socket.write(Buffer.concat([message, ping]));
    assert.deepEqual(await collect(upstream, ping.length), ping);
    upstream.write(Buffer.from([0x8a, 0x04, ...Buffer.from("pong")]));
    await client.until(/pong/);
    budgets.counting = null;
    counted.resolve();
    assert.deepEqual(await collect(upstream, message.length), message);
  },
);

for (const code of [1000, 1008, 1009, 1011, 4000]) {
  test(
    `the upstream's close code ${code} reaches the client, and the client's the upstream`,
    LIMIT,
    async (t) => {
      const left = withResolvers<{ code: number; reason: string }>();
      const { gate, client } = await openThroughGate(t, {
        onMessage(socket, { model }) {
          if (model === "close") socket.close(code, "reason");
          else socket.once("close", (got, reason) => left.resolve({ code: got, reason: reason.toString() }));
        },
      });
      const other = await openSocket(t, gate);
      client.send({ ...CREATE, model: "close" });
      assert.deepEqual(await client.closed, { code, reason: "reason" });
      other.send(CREATE);
      other.socket.close(code, "reason");
      assert.deepEqual(await left.promise, { code, reason: "reason" });
    },
  );
}

test(
  "a message that announces more than 16 MiB and a margin is refused with 1009 before it arrives",
  LIMIT,
  async (t) => {
    const { gate, client } = await openRaw(t);
    client.socket.write(mask(1, Buffer.from("{"), { announced: 16 * 1024 * 1024 + 64 * 1024 + 1 }));
    assert.equal(closeCode(await client.closed), 1009);
    assert.equal(gate.gate.bufferedBytes, 0);
  },
);

test("a message of 16 MiB passes, and nothing is kept of it", { timeout: 300_000 }, async (t) => {
  const { gate, client, upstream } = await openRaw(t);
  const message = mask(1, Buffer.alloc(16 * 1024 * 1024, "x"));
  client.socket.write(message);
  assert.ok((await collect(upstream, message.length)).equals(message));
  await waitUntil("an empty buffer", () => (gate.gate.bufferedBytes === 0 ? true : null));
});

test(
  "a message for which there is no room closes the WebSocket with 1013, and nothing is kept of it",
  LIMIT,
  async (t) => {
    const { gate, client } = await openRaw(t, withLimits({ bufferBytes: 1024 * 1024 }));
    client.socket.write(mask(1, Buffer.alloc(2 * 1024 * 1024, "x")));
    assert.equal(closeCode(await client.closed), 1013);
    assert.equal(gate.gate.bufferedBytes, 0);
  },
);

test("a client that is refused again and again and does not read loses its WebSocket", LIMIT, async (t) => {
  const paused = { code: "paused", problem: "the tool is paused", command: "tollkeeper resume" } as const;
  let isPaused = false;
  const { gate, client } = await openRaw(t, {
    pauses: { judge: () => (isPaused ? paused : null), namesTools: false },
  });
  isPaused = true;
  client.socket.pause();
  const message = mask(1, Buffer.from(JSON.stringify(CREATE)));
  const { closed } = client;
  const flood = () => {
    while (
      client.socket.writable &&
      client.socket.write(Buffer.concat(Array.from({ length: 500 }, () => message)))
    );
  };
  client.socket.on("drain", flood);
  flood();
  await closed;
  assert.ok(gate.gate.bufferedBytes < 4 * 1024 * 1024);
});

for (const [what, frame] of [
  ["without a mask", Buffer.from([0x81, 0x01, 0x7b])],
  ["with a reserved bit", Buffer.from([0xc1, 0x80, 0, 0, 0, 0])],
  ["that continues nothing", Buffer.from([0x80, 0x80, 0, 0, 0, 0])],
] as const) {
  test(
    `a frame of a client ${what} closes the WebSocket with 1002, and does not reach the upstream`,
    LIMIT,
    async (t) => {
      const { client, upstream } = await openRaw(t);
      let got = 0;
      upstream.on("data", (bytes: Buffer) => (got += bytes.length));
      client.socket.write(frame);
      assert.equal(closeCode(await client.closed), 1002);
      assert.equal(got, 0);
    },
  );
}

test(
  "bytes of an upstream that are no frames pass, and then no message of the client goes",
  LIMIT,
  async (t) => {
    const { client, upstream } = await openRaw(t);
    upstream.write(Buffer.from([0xff, 0xff, ...Buffer.from("what is this")]));
    await client.until(/what is this/);
    let got = 0;
    upstream.on("data", (bytes: Buffer) => (got += bytes.length));
    client.socket.write(mask(1, Buffer.from(JSON.stringify(CREATE))));
    await client.closed;
    assert.equal(got, 0);
  },
);

test(
  "an upstream waits for a client that does not read, and little is kept in between",
  { timeout: 300_000 },
  async (t) => {
    const { gate, client, upstream } = await openRaw(t);
    client.socket.pause();
    const event = writeText(`{"type":"response.output_text.delta","delta":"${"x".repeat(60_000)}"}`);
    let written = 0;
    while (written < 64 * 1024 * 1024 && upstream.write(event)) {
      written += event.length;
      await setImmediate();
    }
    await setTimeout(100);
    assert.ok(gate.gate.bufferedBytes < 4 * 1024 * 1024, `${gate.gate.bufferedBytes} bytes are kept`);
  },
);

test(
  "draining closes a WebSocket without a response at once, and one with a response after its record",
  LIMIT,
  async (t) => {
    const held = withResolvers<() => void>();
    const { gate, client } = await openThroughGate(t, {
      onMessage(socket, message) {
        const response = begin(socket, message);
        held.resolve(() => complete(socket, message, response));
      },
    });
    const idle = await openSocket(t, gate);
    client.send(CREATE);
    await client.until(({ type }) => type === "response.created");
    const drained = gate.gate.drain();
    assert.equal((await idle.closed).code, 1012);
    (await held.promise)();
    await client.until(isTerminal);
    assert.equal((await client.closed).code, 1012);
    await drained;
    assert.equal((await gate.ledger.only()).usage, "final");
  },
);

test("pause --cut ends the responses of a tool on its WebSocket, each with a record", LIMIT, async (t) => {
  const { gate, client } = await openThroughGate(t, {
    onMessage: (socket, message) => void begin(socket, message),
  });
  for (const lane of ["a", "b"]) {
    client.send({ ...CREATE, stream_id: lane });
    await client.until(({ type }) => type === "response.in_progress");
  }
  assert.equal(
    gate.gate.cut(() => true),
    2,
  );
  assert.equal((await client.closed).code, 1006);
  const records = await gate.ledger.first(2);
  assert.deepEqual(
    records.map(({ outcome, cut_by, usage }) => [outcome, cut_by, usage]),
    [
      ["cut", "proxy", "absent"],
      ["cut", "proxy", "absent"],
    ],
  );
  assert.equal(gate.gate.openExchanges, 0);
});

test("closing the gate leaves a record of each response, and no connection", LIMIT, async (t) => {
  const { gate, client } = await openThroughGate(t, {
    onMessage: (socket, message) => void begin(socket, message),
  });
  client.send(CREATE);
  await client.until(({ type }) => type === "response.in_progress");
  gate.gate.close();
  await client.closed;
  assert.deepEqual([(await gate.ledger.only()).cut_by, gate.gate.bufferedBytes], ["proxy", 0]);
});

test("a response that lasts is noted, so that a crash does not hide it", LIMIT, async (t) => {
  const { gate, client } = await openThroughGate(t, {
    onMessage: (socket, message) => void begin(socket, message),
  });
  client.send(CREATE);
  await client.until(({ type }) => type === "response.in_progress");
  const note = await waitUntil("a note", () => gate.ledger.notes[0] ?? null);
  assert.deepEqual([note.outcome, note.cut_by, note.usage], ["cut", "crash", "absent"]);
  assert.match(note.response_id ?? "", /^resp_/);
});

test(
  "a client that drops the connection without a Close leaves no connection to the upstream",
  LIMIT,
  async (t) => {
    const { client, upstream } = await openRaw(t);
    const ended = once(upstream.resume(), "end");
    client.socket.destroy();
    await ended;
  },
);

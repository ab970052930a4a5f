// Compressed messages (RFC 7692): they pass as they are, and a copy of each is read.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { constants, deflateRawSync } from "node:zlib";
import { OPCODE } from "../../../src/core/websocket/frame-reader.ts";
import { writeFrame, writeText } from "../../../src/core/websocket/write-frame.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { Compressor } from "../../helpers/client/compressor.ts";
import {
  connectionOf,
  isTerminal,
  markCompressed,
  openSocket,
  sendCompressed,
} from "../../helpers/client/websocket.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import { CREATE, openThroughGate, startGateWithWebSockets } from "../../helpers/gate/gate-with-websocket.ts";
import { startGate, withLimits } from "../../helpers/gate/gate.ts";
import { acceptHandshake, startUpgradeUpstream } from "../../helpers/upstream/websocket-upstream.ts";

const LIMIT = { timeout: 300_000 };

const MIB = 1024 * 1024;

/** Instructions of Codex, as far as their size matters: each message repeats them. */
const INSTRUCTIONS = randomBytes(9_000).toString("base64");

const ONLY_GPT_5_5 = rulesForTools({
  groups: { frugal: { models: ["gpt-5.5"] } },
  tools: { "*": { group: "frugal" } },
});

/** A message that inflates to so many bytes, and has much fewer. */
function bomb(bytes: number): Buffer {
  const [start, end] = [`{"type":"response.create","model":"gpt-5.5","input":"`, `"}`];
  const content = Buffer.concat([
    Buffer.from(start),
    Buffer.alloc(bytes - start.length - end.length, "x"),
    Buffer.from(end),
  ]);
  return deflateRawSync(content, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
}

/** A gate before an upstream that compresses, and whose bytes the test writes. */
async function openRaw(t: TestContext, limits: Parameters<typeof withLimits>[0] = {}) {
  const arrived = withResolvers<Socket>();
  const { baseUrl } = await startUpgradeUpstream(t, (socket, request) => {
    acceptHandshake(socket, request, ["Sec-WebSocket-Extensions: permessage-deflate"]);
    arrived.resolve(socket);
  });
  const gate = await startGate(t, baseUrl, { ...withLimits(limits), upstream: { websocket: "auto" } });
  const client = await openSocket(t, gate);
  return { gate, client, upstream: await arrived.promise };
}

test(
  "messages that repeat what others had go as few bytes, and records are as without compression",
  LIMIT,
  async (t) => {
    const found: Record<string, { sent: number; records: unknown[] }> = {};
    for (const perMessageDeflate of [true, false]) {
      const { gate, upstream, client } = await openThroughGate(t, { client: { perMessageDeflate } });
      for (let turn = 0; turn < 10; turn += 1) {
        client.send({ ...CREATE, instructions: INSTRUCTIONS, input: `turn ${turn}` });
        await client.until(isTerminal);
      }
      const [socket] = upstream.sockets;
      assert.ok(socket);
      assert.equal(upstream.messages.length, 10);
      assert.equal(client.socket.extensions, perMessageDeflate ? "permessage-deflate" : "");
      const records = await gate.ledger.first(10);
      found[String(perMessageDeflate)] = {
        sent: connectionOf(socket).bytesRead,
        records: records.map(({ outcome, usage, tokens, model, bytes_in }) => ({
          outcome,
          usage,
          tokens,
          model,
          bytes_in,
        })),
      };
    }
    const [compressed, plain] = [found["true"], found["false"]];
    assert.deepEqual(compressed?.records, plain?.records);
    assert.ok(
      (compressed?.sent ?? 0) * 5 < (plain?.sent ?? 0),
      JSON.stringify([compressed?.sent, plain?.sent]),
    );
  },
);

for (const serverOptions of [{}, { clientNoContextTakeover: true, serverNoContextTakeover: true }]) {
  test(
    `a message after one that was refused arrives as it was sent, with ${JSON.stringify(serverOptions)}`,
    LIMIT,
    async (t) => {
      const { upstream, gate, client } = await openThroughGate(t, {
        config: ONLY_GPT_5_5,
        perMessageDeflate: serverOptions,
      });
      for (let round = 0; round < 3; round += 1) {
        // What is refused is what the next message refers to.
        client.send({ ...CREATE, model: "gpt-6.2-sol", input: INSTRUCTIONS });
        assert.equal((await client.until(isTerminal)).error?.code, "model_not_allowed");
        for (let turn = 0; turn < 2; turn += 1) {
          client.send({ ...CREATE, input: INSTRUCTIONS });
          assert.equal((await client.until(isTerminal)).type, "response.completed");
        }
      }
      assert.equal(upstream.messages.length, 6);
      for (const message of upstream.messages) assert.deepEqual(message, { ...CREATE, input: INSTRUCTIONS });
      assert.equal((await gate.ledger.first(9)).filter(({ outcome }) => outcome === "completed").length, 6);
    },
  );
}

test(
  "a message that inflates to more than 16 MiB and 64 KiB closes the WebSocket with 1009, and one that just fits passes",
  LIMIT,
  async (t) => {
    const { gate, upstream } = await startGateWithWebSockets(t);
    const most = 16 * MIB + 64 * 1024;
    const [fits, exceeds] = [bomb(most), bomb(most + 1)];
    assert.ok(exceeds.length < 20_000);
    const client = await openSocket(t, gate);
    sendCompressed(client, fits);
    await client.until(isTerminal);
    const other = await openSocket(t, gate);
    sendCompressed(other, exceeds);
    assert.deepEqual(await other.closed, { code: 1009, reason: "a message is longer than tollkeeper takes" });
    assert.equal(upstream.messages.length, 1);
    assert.equal(gate.gate.bufferedBytes, 0);
  },
);

test("a message that inflates to more than may wait closes the WebSocket with 1013", LIMIT, async (t) => {
  const { client, gate } = await openThroughGate(t, withLimits({ bufferBytes: 8 * MIB }));
  sendCompressed(client, bomb(9 * MIB));
  assert.equal((await client.closed).code, 1013);
  assert.equal(gate.gate.bufferedBytes, 0);
});

test(
  "a message that cannot be inflated, or in two ways, closes the WebSocket with 1007 and goes nowhere",
  LIMIT,
  async (t) => {
    const { gate, upstream } = await startGateWithWebSockets(t, { config: ONLY_GPT_5_5 });
    const good = Buffer.from(JSON.stringify(CREATE));
    const whole = deflateRawSync(good, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
    for (const payload of [
      good,
      whole.subarray(0, -2),
      Buffer.concat([
        deflateRawSync(good),
        deflateRawSync(`{"type":"response.create","model":"gpt-6.2-sol"}`),
      ]),
    ]) {
      const client = await openSocket(t, gate);
      sendCompressed(client, payload);
      assert.deepEqual(await client.closed, { code: 1007, reason: "a compressed message cannot be read" });
    }
    assert.equal(upstream.messages.length, 0);
    assert.equal(gate.ledger.records.length, 0);
  },
);

test(
  "a compressed message without an agreement on compression closes the WebSocket with 1002",
  LIMIT,
  async (t) => {
    const { upstream, client } = await openThroughGate(t, { client: { perMessageDeflate: false } });
    sendCompressed(client, bomb(100));
    assert.equal((await client.closed).code, 1002);
    assert.equal(upstream.messages.length, 0);
  },
);

test(
  "the bytes of an upstream's compressed messages pass as they are, in fragments and with control frames between",
  LIMIT,
  async (t) => {
    const { gate, client, upstream } = await openRaw(t);
    const compressor = new Compressor();
    const received: Buffer[] = [];
    connectionOf(client.socket).prependListener("data", (chunk: Buffer) => received.push(chunk));
    client.send(CREATE);
    await once(upstream, "data");
    const response = { id: "resp_1", model: "gpt-5.5" };
    const created = await compressor.compress(JSON.stringify({ type: "response.created", response }));
    const completed = await compressor.compress(
      JSON.stringify({
        type: "response.completed",
        response: { ...response, usage: { input_tokens: 7, output_tokens: 3 } },
      }),
    );
    await compressor.close();
    const sent = Buffer.concat([
      markCompressed(Buffer.concat([Buffer.from([0x01, 5]), created.subarray(0, 5)])),
      writeFrame(OPCODE.ping, Buffer.from("hi")),
      Buffer.concat([Buffer.from([0x80, created.length - 5]), created.subarray(5)]),
      writeText(`{"type":"codex.unknown"}`),
      markCompressed(writeFrame(OPCODE.text, completed)),
    ]);
    for (const byte of sent) upstream.write(Buffer.from([byte]));
    await client.until(isTerminal);
    assert.deepEqual(Buffer.concat(received), sent);
    const { tokens, usage, response_id: id } = await gate.ledger.only();
    assert.deepEqual([usage, id, tokens?.input_total, tokens?.output], ["final", "resp_1", 7, 3]);
  },
);

for (const [what, payload] of [
  ["inflates to more than 16 MiB", bomb(16 * MIB + 1)],
  ["cannot be inflated", Buffer.from("no deflate")],
] as const) {
  test(
    `an upstream's message that ${what} passes as it is, nothing is read any more, and no further message goes`,
    LIMIT,
    async (t) => {
      const { gate, client, upstream } = await openRaw(t);
      const received: Buffer[] = [];
      client.socket.removeAllListeners("message");
      connectionOf(client.socket).removeAllListeners("data");
      connectionOf(client.socket).on("data", (chunk: Buffer) => received.push(chunk));
      let asked = 0;
      client.send(CREATE);
      await once(upstream, "data");
      upstream.on("data", (chunk: Buffer) => (asked += chunk.length));
      const frame = markCompressed(writeFrame(OPCODE.text, payload));
      upstream.write(frame);
      const plain = writeText(`{"type":"response.created","response":{"id":"resp_1"}}`);
      upstream.write(plain);
      const expected = Buffer.concat([frame, plain]);
      await waitUntil("the bytes", () => Buffer.concat(received).length >= expected.length || null);
      assert.deepEqual(Buffer.concat(received), expected);
      assert.equal(gate.gate.bufferedBytes, 0);
      client.send(CREATE);
      await once(connectionOf(client.socket), "close");
      const { outcome, usage, tokens } = await gate.ledger.only();
      assert.deepEqual([outcome, usage, tokens], ["cut", "absent", null]);
      assert.equal(asked, 0);
    },
  );
}

test(
  "what has come of a compressed message counts in the buffer, and is dropped once that is full",
  LIMIT,
  async (t) => {
    const { gate, client, upstream } = await openRaw(t, { bufferBytes: MIB });
    client.send(CREATE);
    await once(upstream, "data");
    const head = Buffer.from([0xc1, 127, 0, 0, 0, 0, 0, 0x40, 0, 0]);
    upstream.write(Buffer.concat([head, randomBytes(MIB / 2)]));
    await waitUntil("half of it", () => gate.gate.bufferedBytes >= MIB / 2 || null);
    upstream.write(randomBytes(MIB));
    await waitUntil("an empty buffer", () => gate.gate.bufferedBytes === 0 || null);
    client.socket.terminate();
    assert.equal((await gate.ledger.only()).outcome, "cut");
  },
);

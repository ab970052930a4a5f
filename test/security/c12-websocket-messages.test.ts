// C12, messages on an open WebSocket: each is held until it is judged as a request of its own, so that no message gets a model past the
// tool's group, in whatever way it is written, compressed or cut into frames.
import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, deflateRawSync } from "node:zlib";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { isTerminal, sendCompressed } from "../helpers/client/websocket.ts";
import { CREATE, openThroughGate } from "../helpers/gate/gate-with-websocket.ts";
import { SMUGGLED_MESSAGES } from "./smuggled-messages.ts";

const ONLY_GPT_5_5 = rulesForTools({
  groups: { frugal: { models: ["gpt-5.5"] } },
  tools: { "*": { group: "frugal" } },
});

for (const { by, message: text, code } of SMUGGLED_MESSAGES)
  for (const perMessageDeflate of [false, true])
    test(`a model that the group does not allow does not get past it by ${by}, in one frame or in many${perMessageDeflate ? ", compressed" : ""}`, async (t) => {
      const { upstream, client } = await openThroughGate(t, {
        config: ONLY_GPT_5_5,
        client: { perMessageDeflate },
      });
      client.send(CREATE);
      const { response } = await client.until(isTerminal);
      const message = Buffer.from(text.replaceAll("ID", response?.id ?? ""));
      // One byte a frame, except of a long message.
      for (const pieces of [1, Math.min(message.length, 300)]) {
        for (let at = 0; at < Math.max(pieces, 1); at += 1) {
          const [from, to] = [at, at + 1].map((piece) => Math.floor((piece * message.length) / pieces));
          client.socket.send(message.subarray(from, to), {
            fin: at === Math.max(pieces, 1) - 1,
            binary: false,
          });
        }
        const { type, status, error } = await client.until(isTerminal);
        assert.deepEqual([type, status], ["error", 400]);
        assert.equal(error?.code, code);
      }
      assert.equal(upstream.messages.length, 1);
    });

test("a message of a forbidden model is refused and recorded wherever it is cut in two frames", async (t) => {
  const { gate, upstream, client } = await openThroughGate(t, { config: ONLY_GPT_5_5 });
  const message = Buffer.from(`{"type":"response.create","model":"gpt-5.5","mod\\u0065l":"gpt-6.2-sol"}`);
  for (let at = 0; at <= message.length; at += 1) {
    client.socket.send(message.subarray(0, at), { fin: false, binary: false });
    client.socket.send(message.subarray(at), { fin: true, binary: false });
    const { status, error } = await client.until(isTerminal);
    assert.deepEqual([at, status, error?.code], [at, 400, "model_unreadable"]);
  }
  assert.equal(upstream.messages.length, 0);
  const records = await gate.ledger.first(message.length + 1);
  for (const { outcome, error_type } of records)
    assert.deepEqual([outcome, error_type], ["rejected", "model_unreadable"]);
});

/** Compressed payloads of which peers that keep their state read more, or other bytes, than one that takes each message by itself. */
const SMUGGLED_IN_BLOCKS: [what: string, payload: (good: Buffer, evil: Buffer) => Buffer][] = [
  ["behind a last block", (good, evil) => Buffer.concat([deflateRawSync(good), deflateRawSync(evil)])],
  [
    "in a block that begins in another message",
    (good, evil) => Buffer.concat([Buffer.from([0]), lengthOf(good.length + evil.length), good]),
  ],
  [
    // After each message tollkeeper reads 25 bytes of its own.
    "in a block that ends where tollkeeper ends the message",
    (good) => Buffer.concat([Buffer.from([1]), lengthOf(good.length + 25), good]),
  ],
  ["behind the length of a block", (good) => Buffer.concat([openDeflate(good), Buffer.from([0, 0xff])])],
  ["behind half of a block", (good) => openDeflate(good).subarray(0, -3)],
];

for (const [what, smuggle] of SMUGGLED_IN_BLOCKS) {
  test(`a compressed message with a model that the group does not allow ${what} closes the WebSocket, and goes nowhere`, async (t) => {
    const { upstream, client } = await openThroughGate(t, { config: ONLY_GPT_5_5 });
    const payload = smuggle(
      Buffer.from(JSON.stringify(CREATE)),
      Buffer.from(JSON.stringify({ ...CREATE, model: "gpt-6.2-sol" })),
    );
    sendCompressed(client, payload);
    assert.equal((await client.closed).code, 1007);
    assert.equal(upstream.messages.length, 0);
  });
}

/** Compresses a message as peers do, without its end. */
function openDeflate(content: Buffer): Buffer {
  return deflateRawSync(content, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
}

/** The length of a block that holds its bytes as they are (RFC 1951 section 3.2.4). */
function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt16LE(bytes);
  length.writeUInt16LE(0xffff - bytes, 2);
  return length;
}

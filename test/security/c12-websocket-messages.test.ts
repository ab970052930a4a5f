// C12, messages on an open WebSocket: each is held until it is judged as a request of its own, so that no message gets a model past the
// tool's group, in whatever way it is written, compressed or cut into frames.
import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, deflateRawSync } from "node:zlib";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { isTerminal, sendCompressed } from "../helpers/client/websocket.ts";
import { CREATE, openThroughGate } from "../helpers/gate/gate-with-websocket.ts";

const ONLY_GPT_5_5 = rulesForTools({
  groups: { frugal: { models: ["gpt-5.5"] } },
  tools: { "*": { group: "frugal" } },
});

/** Messages that try to get a model past a group that allows gpt-5.5 only. */
const SMUGGLED: [what: string, message: string][] = [
  ["a second model", `{"type":"response.create","model":"gpt-5.5","model":"gpt-6.2-sol"}`],
  [
    "a second model behind a long input",
    `{"type":"response.create","model":"gpt-5.5","input":"${"x".repeat(200_000)}","model":"gpt-6.2-sol"}`,
  ],
  ["an escaped name", `{"type":"response.create","model":"gpt-5.5","mod\\u0065l":"gpt-6.2-sol"}`],
  ["another case", `{"type":"response.create","model":"gpt-5.5","Model":"gpt-6.2-sol"}`],
  ["a late model", `{"type":"response.create","input":[{"model":"gpt-5.5"}],"model":"gpt-6.2-sol"}`],
  ["an escaped value", `{"type":"response.create","model":"gpt-6.2-s\\u006fl"}`],
  ["no model", `{"type":"response.create","input":[]}`],
  ["a model that is no string", `{"type":"response.create","model":["gpt-6.2-sol"]}`],
  ["further models", `{"type":"response.create","model":"gpt-5.5","models":["gpt-6.2-sol"]}`],
  ["an extra body", `{"type":"response.create","model":"gpt-5.5","extra_body":{"model":"gpt-6.2-sol"}}`],
  [
    "a tool's model",
    `{"type":"response.create","model":"gpt-5.5","tools":[{"type":"x","model":"gpt-6.2-sol"}]}`,
  ],
  ["a second type", `{"type":"response.steer","previous_response_id":"ID","type":"response.create"}`],
  ["a second type first", `{"type":"response.create","previous_response_id":"ID","type":"response.steer"}`],
  [
    "a type in another case",
    `{"type":"response.steer","Type":"response.create","previous_response_id":"ID"}`,
  ],
  ["an escaped type", `{"type":"response.steer","t\\u0079pe":"response.create","previous_response_id":"ID"}`],
  [
    "a steer of an unknown response",
    `{"type":"response.steer","previous_response_id":"resp_unknown","input":[]}`,
  ],
  ["a steer without a response", `{"type":"response.steer","input":[]}`],
  ["a steer with a model", `{"type":"response.steer","previous_response_id":"ID","model":"gpt-6.2-sol"}`],
  [
    "an injection with a model",
    `{"type":"response.inject","previous_response_id":"ID","model":"gpt-6.2-sol"}`,
  ],
  ["an unknown type", `{"type":"response.start","previous_response_id":"ID"}`],
  ["no type", `{"input":[]}`],
  ["a warm-up", `{"type":"response.create","model":"gpt-6.2-sol","generate":false}`],
  ["a byte order mark", `\ufeff{"type":"response.create","model":"gpt-6.2-sol"}`],
  [
    "something behind the object",
    `{"type":"response.create","model":"gpt-5.5"}{"type":"response.create","model":"gpt-6.2-sol"}`,
  ],
  ["an object that is not closed", `{"type":"response.create","model":"gpt-5.5"`],
  ["an array", `[{"type":"response.create","model":"gpt-6.2-sol"}]`],
  ["a comment", `{/* */"type":"response.create","model":"gpt-5.5"}`],
  [
    "a name with a null character",
    `{"type":"response.create","model":"gpt-5.5","model\\u0000":"gpt-6.2-sol"}`,
  ],
  ["an empty message", ``],
  ["white space", `  `],
  ["NaN", `{"type":"response.create","model":"gpt-5.5","top_p":NaN}`],
  [
    "two models that are both escaped",
    `{"\\u006dodel":"gpt-5.5","m\\u006fdel":"gpt-6.2-sol","type":"response.create"}`,
  ],
  [
    "an escaped second model",
    `{"type":"response.create","model":"gpt-5.5","\\u006d\\u006f\\u0064\\u0065\\u006c":"gpt-6.2-sol"}`,
  ],
  ["three models", `{"type":"response.create","model":"gpt-5.5","model":"gpt-6.2-sol","model":"gpt-5.5"}`],
  ["a model before the type", `{"model":"gpt-6.2-sol","type":"response.create"}`],
  ["a model in another lane", `{"type":"response.create","stream_id":"two","model":"gpt-6.2-sol"}`],
  [
    "a model that continues a response",
    `{"type":"response.create","previous_response_id":"ID","model":"gpt-6.2-sol"}`,
  ],
  [
    "a steer with an escaped model",
    `{"type":"response.steer","previous_response_id":"ID","mod\\u0065l":"gpt-6.2-sol"}`,
  ],
  [
    "an injection with an escaped model",
    `{"type":"response.inject","previous_response_id":"ID","mod\\u0065l":"gpt-6.2-sol"}`,
  ],
  [
    "an injection with two types",
    `{"type":"response.inject","previous_response_id":"ID","type":"response.create","model":"gpt-6.2-sol"}`,
  ],
];

for (const [what, text, perMessageDeflate] of SMUGGLED.flatMap(([name, message]) => [
  [name, message, false] as const,
  [name, message, true] as const,
])) {
  test(`a model that the group does not allow does not get past it by ${what}, in one frame or in many${perMessageDeflate ? ", compressed" : ""}`, async (t) => {
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
      assert.match(error?.code ?? "", /^model_(?:unreadable|not_allowed)$/);
    }
    assert.equal(upstream.messages.length, 1);
  });
}

test("a message of a forbidden model is refused wherever it is cut in two frames", async (t) => {
  const { upstream, client } = await openThroughGate(t, { config: ONLY_GPT_5_5 });
  const message = Buffer.from(`{"type":"response.create","model":"gpt-5.5","mod\\u0065l":"gpt-6.2-sol"}`);
  for (let at = 0; at <= message.length; at += 1) {
    client.socket.send(message.subarray(0, at), { fin: false, binary: false });
    client.socket.send(message.subarray(at), { fin: true, binary: false });
    const { status, error } = await client.until(isTerminal);
    assert.deepEqual([at, status, error?.code], [at, 400, "model_unreadable"]);
  }
  assert.equal(upstream.messages.length, 0);
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

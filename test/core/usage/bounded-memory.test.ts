import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import { createMeter } from "../../../src/core/usage/meter.ts";
import { measureUsedMemory } from "../../helpers/process/used-memory.ts";
import { jsonSetup, setup } from "./response-bodies.ts";
import { feedRepeatedly, MAX_RETAINED_BYTES } from "./retained.ts";

const MIB = 1024 * 1024;

function assertNothingRetained(changes: MeterSetup, head: string, filler: string, total: number): void {
  const { retained, reading } = feedRepeatedly(changes, head, filler, total);
  assert.ok(retained < MAX_RETAINED_BYTES, `${retained} bytes`);
  assert.notEqual(reading.usage, "final");
}

test("retains nothing of one event of 200 MiB", () => {
  const head = 'event: content_block_delta\ndata: {"delta":{"text":"';
  assertNothingRetained(setup(), head, 'text \\" ', 200 * MIB);
});

/** Makes a filler as long as a power of two, so that it fits into the chunks. */
function padded(start: string, end: string, length: number, padding = "x"): string {
  return start.padEnd(length - end.length, padding) + end;
}

const CHAT = setup({ dialect: "chat" });

const ENDLESS: [what: string, MeterSetup, head: string, filler: string][] = [
  ["line without a field", setup(), "", "x"],
  ["comment", setup(), ":", "x"],
  ["event name", setup(), "event: ", "x"],
  ["event of many lines", setup(), "", "data: 1\n"],
  ["run of small events", setup(), "", 'data: {"type":"ping","a":"bcdefghi"}\n\n'],
  ["run of selected events", setup(), "", 'data: {"type":"message_delta","usage":{"a":1}}\n\n'],
  ["member name", setup(), 'data: {"', "x"],
  ["type", setup(), 'data: {"type":"', "x"],
  ["usage object", setup(), 'data: {"type":"message_delta","usage":{"a":["', 'x","'],
  ["number", jsonSetup(), '{"usage":', "1"],
  ["nest", jsonSetup({ dialect: "responses" }), '{"usage":', "["],
  ["nest that is not selected", jsonSetup({ dialect: "responses" }), '{"output":', '{"a":['],
  ["run of backslashes", jsonSetup(), '{"model":"', "\\"],
  ["document of members", jsonSetup(), "{", '"usage":{},"model":"m",'],
  ["white space", jsonSetup(), "", " "],
  [
    "run of chat chunks",
    CHAT,
    "",
    padded('data: {"choices":[{"delta":{"content":"', 'x"}}],"usage":{"a":1}}\n\n', 2_048),
  ],
  ["error of old llama.cpp", CHAT, 'error: {"message":"', "x"],
  ["list of choices", CHAT, 'data: {"choices":[', '{"index":1,"finish_reason":"a"},'],
  ["run of chat usage", CHAT, "", padded('data: {"choices":[{"index":7}],"usage":{"b":2', "}}\n\n", 64, "0")],
  ["list of embeddings", jsonSetup({ dialect: "chat" }), '{"data":[{"embedding":[', "0.12345,"],
];

for (const [what, changes, head, filler] of ENDLESS) {
  test(`retains nothing of an endless ${what}`, () => {
    assertNothingRetained(changes, head, filler, 16 * MIB);
  });
}

for (const finish of [null, "stop"]) {
  test(`retains nothing of 200,000 choices whose finish reason is ${finish}`, () => {
    const meter = createMeter(CHAT);
    const before = measureUsedMemory();
    for (let index = 1; index <= 200_000; index++) {
      const data = { choices: [{ index, finish_reason: finish }] };
      meter.feed(Buffer.from(`data: ${JSON.stringify(data)}\n\n`));
    }
    const retained = measureUsedMemory() - before;
    assert.ok(retained < MAX_RETAINED_BYTES, `${retained} bytes`);
    assert.equal(meter.finish(false).outcome, "cut");
  });
}

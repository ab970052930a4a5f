import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createMeter } from "../../../src/core/usage/meter.ts";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import { jsonSetup, setup } from "./answers.ts";

const CHUNK_BYTES = 64 * 1024;
const MIB = 1024 * 1024;
/** Four times what a meter states: room for what the runtime itself allocates while the test runs. */
const RETAINED_BYTES = MIB;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes that are still in use after a collection. */
function measureUsed(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Feeds `head` and then `filler` over and over, all in one and the same buffer; returns what the meter holds then. */
function retained(changes: MeterSetup, head: string, filler: string, total: number): number {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const meter = createMeter(changes);
  meter.feed(Buffer.from(head));
  meter.feed(chunk.fill(filler));
  const before = measureUsed();
  for (let fed = CHUNK_BYTES; fed < total; fed += CHUNK_BYTES) meter.feed(chunk.fill(filler));
  const after = measureUsed();
  assert.notEqual(meter.finish(false).usage, "final");
  return after - before;
}

test("one event of 200 MiB leaves nothing behind", () => {
  const head = 'event: content_block_delta\ndata: {"delta":{"text":"';
  assert.ok(retained(setup(), head, 'text \\" ', 200 * MIB) < RETAINED_BYTES);
});

const ENDLESS: [what: string, MeterSetup, head: string, filler: string][] = [
  ["line without a field", setup(), "", "x"],
  ["comment", setup(), ":", "x"],
  ["event name", setup(), "event: ", "x"],
  ["event of many lines", setup(), "", "data: 1\n"],
  ["run of small events", setup(), "", 'data: {"type":"ping","a":"bcdefghi"}\n\n'],
  ["run of wanted events", setup(), "", 'data: {"type":"message_delta","usage":{"a":1}}\n\n'],
  ["member name", setup(), 'data: {"', "x"],
  ["type", setup(), 'data: {"type":"', "x"],
  ["usage object", setup(), 'data: {"type":"message_delta","usage":{"a":["', 'x","'],
  ["number", jsonSetup(), '{"usage":', "1"],
  ["nest", jsonSetup({ dialect: "responses" }), '{"usage":', "["],
  ["nest that is not wanted", jsonSetup({ dialect: "responses" }), '{"output":', '{"a":['],
  ["run of backslashes", jsonSetup(), '{"model":"', "\\"],
  ["document of members", jsonSetup(), "{", '"usage":{},"model":"m",'],
  ["white space", jsonSetup(), "", " "],
];

for (const [what, changes, head, filler] of ENDLESS) {
  test(`an endless ${what} leaves nothing behind`, () => {
    assert.ok(retained(changes, head, filler, 16 * MIB) < RETAINED_BYTES);
  });
}

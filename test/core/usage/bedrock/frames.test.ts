// The frames of AWS's event streams: what is read of each, and of those that are not as they say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import * as fc from "fast-check";
import { readFrameHeaders } from "../../../../src/core/usage/bedrock/frame-headers.ts";
import { FrameScanner } from "../../../../src/core/usage/bedrock/frame-scanner.ts";
import { BEDROCK_FORMAT } from "../../../../src/core/usage/bedrock/responses.ts";
import type { JsonObject } from "../../../../src/core/json.ts";
import { createReading } from "../../../../src/core/usage/usage-format.ts";
import { chunkFrame, eventFrame, exceptionFrame, frame } from "../../../helpers/upstream/bedrock-frames.ts";

type Event = [type: string, fields: JsonObject];

/** Reads frames in pieces of a size, and returns the events and whether all was readable. */
function scan(bytes: Buffer, size = bytes.length): { events: Event[]; isReadable: boolean } {
  const events: Event[] = [];
  const scanner = new FrameScanner(BEDROCK_FORMAT, {
    isFinished: false,
    hasContent: false,
    addEvent: (type, fields) => events.push([type, fields]),
    addBody: () => assert.fail("a stream has no body"),
    toReading: () => createReading("cut", "absent"),
  });
  for (let at = 0; at < bytes.length; at += size) scanner.feed(bytes.subarray(at, at + size));
  return { events, isReadable: scanner.finish() };
}

const STOP: Event = ["messageStop", { stopReason: "end_turn" }];
const stop = eventFrame(...STOP);

test("any frames, cut anywhere, give their events in order", () => {
  const word = fc.string({ maxLength: 40, unit: "grapheme" });
  const event = fc.record({ isChunk: fc.boolean(), word, long: fc.nat({ max: 3000 }) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), fc.integer({ min: 1, max: 5000 }), (list, size) => {
      const bytes = list.map(({ isChunk, word: stopReason, long }) => {
        const fields = { note: "é".repeat(long), stopReason };
        return isChunk ? chunkFrame(fields) : eventFrame("messageStop", fields);
      });
      const { events, isReadable } = scan(Buffer.concat(bytes), size);
      const expected = list.map(({ isChunk, word: stopReason }): Event => [
        isChunk ? "chunk" : "messageStop",
        { stopReason },
      ]);
      assert.deepEqual([events, isReadable], [expected, true]);
    }),
    { numRuns: 200 },
  );
});

test("after a frame with a wrong checksum nothing is read", () => {
  for (const at of [0, 3, 8, 20, stop.length - 10, stop.length - 1]) {
    const changed = Buffer.from(stop);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.deepEqual(scan(Buffer.concat([stop, changed, stop])), { events: [STOP], isReadable: false });
  }
});

test("a frame whose lengths have a wrong checksum is not read, even if its own is right", () => {
  const changed = Buffer.from(stop);
  changed[8] = (changed[8] ?? 0) ^ 1;
  changed.writeUInt32BE(crc32(changed.subarray(0, -4)), changed.length - 4);
  assert.deepEqual(scan(Buffer.concat([stop, changed, stop])), { events: [STOP], isReadable: false });
});

test("a stream that ends within a frame is not readable to its end", () => {
  for (const bytes of [1, 11, 40, stop.length - 1])
    assert.deepEqual(scan(Buffer.concat([stop, stop.subarray(0, bytes)])), {
      events: [STOP],
      isReadable: false,
    });
  assert.deepEqual(scan(Buffer.alloc(0)), { events: [], isReadable: true });
});

test("headers of all types are skipped over, and a frame without payload has no event", () => {
  const named = Buffer.concat([
    Buffer.from([2, 0x3a, 0x61, 0]),
    Buffer.from([2, 0x3a, 0x62, 4, 0, 0, 0, 9]),
    Buffer.from([2, 0x3a, 0x63, 9, ...Buffer.alloc(16, 7)]),
    Buffer.from([2, 0x3a, 0x64, 7, 0, 2, 0x6f, 0x6b]),
  ]);
  assert.deepEqual([...(readFrameHeaders(named) ?? [])], [[":d", "ok"]]);
  for (const wrong of [
    [2, 0x3a, 0x61, 10],
    [9, 0x3a],
    [1, 0x3a, 7, 0],
    [1, 0x3a, 7, 0, 9, 0x61],
  ])
    assert.equal(readFrameHeaders(Buffer.from(wrong)), null);
  const empty = frame({ ":message-type": "event", ":event-type": "initial-response" }, "");
  assert.deepEqual(scan(Buffer.concat([empty, stop])), { events: [STOP], isReadable: true });
});

test("exceptions and errors have their own type, whatever they hold", () => {
  const error = frame(
    { ":message-type": "error", ":error-code": "InternalError", ":error-message": "x" },
    "",
  );
  const { events } = scan(Buffer.concat([exceptionFrame("validationException"), error]));
  assert.deepEqual(events, [
    ["exception", { type: "validationException" }],
    ["exception", { type: "InternalError" }],
  ]);
});

test("a chunk whose base64 has escapes or no JSON adds nothing", () => {
  const escaped = eventFrame("chunk", {});
  const wrong = frame(
    { ":message-type": "event", ":event-type": "chunk" },
    String.raw`{"bytes":"e30\u003d"}`,
  );
  const text = eventFrame("chunk", { bytes: Buffer.from("no JSON").toString("base64") });
  for (const one of [escaped, wrong, text])
    assert.deepEqual(scan(Buffer.concat([one, stop])), { events: [STOP], isReadable: false });
});

test("headers that are longer than any of Bedrock's are not kept", () => {
  const long = frame({ ":event-type": "a".repeat(9000), ":message-type": "event" }, "{}");
  assert.deepEqual(scan(Buffer.concat([stop, long, stop])), { events: [STOP], isReadable: false });
});

test("a frame that says that it is huge is not waited for", () => {
  const huge = Buffer.from(stop);
  huge.writeUInt32BE(0x7f_ff_ff_ff, 0);
  assert.deepEqual(scan(huge), { events: [], isReadable: false });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageReader } from "../helpers/client/http-messages.ts";
import { ResponseCheck } from "./response-check.ts";
import {
  type ResponseName,
  BODY_BYTES,
  STREAM_END,
  STREAM_START,
  stampedChunk,
  COMPLETE_RESPONSES,
  PACES,
} from "./responses.ts";

/** Reads responses in chunks. Returns the fault of each response; null for a correct one. */
function read(response: ResponseName, chunks: readonly Buffer[], delaysUs: number[] = []): (string | null)[] {
  const verdicts: (string | null)[] = [];
  const check = new ResponseCheck(response, delaysUs);
  const reader = new MessageReader({
    onHead() {},
    onBody: (bytes, from, to) => check.take(bytes, from, to),
    onEnd() {
      verdicts.push(check.judge());
      check.reset();
    },
  });
  for (const chunk of chunks) for (let rest = chunk; rest.length > 0;) rest = reader.feed(rest);
  return verdicts;
}

test("two responses with a length are read to their ends, wherever they are divided", () => {
  const bytes = Buffer.concat([COMPLETE_RESPONSES.json, COMPLETE_RESPONSES.json]);
  for (let at = 1; at < bytes.length; at += 1) {
    assert.deepEqual(read("json", [bytes.subarray(0, at), bytes.subarray(at)]), [null, null]);
  }
});

test("a chunked stream is read to its end, wherever it is divided, and each event yields its delay", () => {
  const events = Array.from({ length: PACES.stream.events }, () => Buffer.from(stampedChunk()));
  const bytes = Buffer.concat([STREAM_START, ...events, STREAM_END]);
  const delaysUs: number[] = [];
  assert.deepEqual(read("stream", [bytes], delaysUs), [null]);
  assert.equal(delaysUs.length, PACES.stream.events);
  assert.ok(delaysUs.every((delay) => delay > 0));
  for (let at = bytes.length - 1_500; at < bytes.length; at += 1) {
    assert.deepEqual(read("stream", [bytes.subarray(0, at), bytes.subarray(at)]), [null]);
  }
});

test("a body with one changed byte is reported as different from the upstream's", () => {
  const bytes = Buffer.from(COMPLETE_RESPONSES.firehose);
  bytes.write("0", bytes.length - 1_000_000);
  const [verdict] = read("firehose", [bytes]);
  assert.equal(verdict, `a body of ${BODY_BYTES.firehose} bytes that is not the upstream's`);
});

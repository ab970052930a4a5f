import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerCheck } from "./answer-check.ts";
import { AnswerReader } from "./answer-reader.ts";
import {
  type AnswerName,
  BODY_BYTES,
  STREAM_END,
  STREAM_START,
  stampedChunk,
  WHOLE_ANSWERS,
  PACES,
} from "./answers.ts";

/** Reads pieces of answers; returns what became of each answer: null where it was right. */
function read(answer: AnswerName, pieces: readonly Buffer[], delaysUs: number[] = []): (string | null)[] {
  const verdicts: (string | null)[] = [];
  const check = new AnswerCheck(answer, delaysUs);
  const reader = new AnswerReader({
    onBody: (bytes, from, to) => check.take(bytes, from, to),
    onEnd() {
      verdicts.push(check.judge());
      check.reset();
    },
    onFault: (fault) => verdicts.push(fault),
  });
  for (const piece of pieces) reader.feed(piece);
  return verdicts;
}

test("two answers with a length are read to their ends, wherever they are cut", () => {
  const bytes = Buffer.concat([WHOLE_ANSWERS.json, WHOLE_ANSWERS.json]);
  for (let at = 1; at < bytes.length; at += 1) {
    assert.deepEqual(read("json", [bytes.subarray(0, at), bytes.subarray(at)]), [null, null]);
  }
});

test("a stream in chunks is read to its end, wherever it is cut near that, and each whole event tells its delay", () => {
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

test("a body with one byte changed is not the upstream's", () => {
  const bytes = Buffer.from(WHOLE_ANSWERS.firehose);
  bytes.write("0", bytes.length - 1_000_000);
  const [verdict] = read("firehose", [bytes]);
  assert.equal(verdict, `a body of ${BODY_BYTES.firehose} bytes that is not the upstream's`);
});

test("an answer with another status is a fault, with what it said", () => {
  const [verdict] = read("json", [Buffer.from("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 2\r\n\r\n{}")]);
  assert.match(verdict ?? "", /^HTTP\/1\.1 502 Bad Gateway/);
});

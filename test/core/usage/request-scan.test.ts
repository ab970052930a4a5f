import assert from "node:assert/strict";
import { test } from "node:test";
import { createRequestScan } from "../../../src/core/usage/request-scan.ts";
import { singleBytes } from "./corpus.ts";

function scan(chunks: Iterable<Buffer>): {
  model: string | null;
  stream: boolean | null;
  background: boolean | null;
} {
  const request = createRequestScan();
  for (const chunk of chunks) request.feed(chunk);
  const { model, stream, background } = request;
  return { model, stream, background };
}

function scanText(text: string): ReturnType<typeof scan> {
  const body = Buffer.from(text);
  const whole = scan([body]);
  assert.deepEqual(scan(singleBytes(body)), whole);
  return whole;
}

test("a request's model, stream and background are read wherever they stand", () => {
  const prompt = JSON.stringify([{ role: "user", content: '"model":"no","stream":false', model: "no" }]);
  assert.deepEqual(scanText(`{"messages":${prompt},"stream":true,"model":"claude-x","background":false}`), {
    model: "claude-x",
    stream: true,
    background: false,
  });
});

test("what a request does not say, or says in another type, is unknown", () => {
  assert.deepEqual(scanText('{"model":7,"stream":"true","background":null}'), {
    model: null,
    stream: null,
    background: null,
  });
  assert.deepEqual(scanText(""), { model: null, stream: null, background: null });
});

test("a request that is no JSON is unknown, also when it began like some", () => {
  const unknown = { model: null, stream: null, background: null };
  assert.deepEqual(scan([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00])]), unknown);
  assert.deepEqual(scanText('{"model":"a","stream":true} trailing'), unknown);
});

test("the model is known before the rest of a long request has come", () => {
  assert.equal(scanText('{"model":"a","messages":[{"content":"and so on').model, "a");
});

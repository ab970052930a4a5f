import assert from "node:assert/strict";
import { test } from "node:test";
import { createRequestScanner } from "../../../src/core/usage/request-scanner.ts";
import { singleBytes } from "./corpus.ts";

function scan(chunks: Iterable<Buffer>): {
  model: string | null;
  stream: boolean | null;
  background: boolean | null;
} {
  const request = createRequestScanner();
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

test("reads a request's model, stream and background at any position", () => {
  const prompt = JSON.stringify([{ role: "user", content: '"model":"no","stream":false', model: "no" }]);
  assert.deepEqual(scanText(`{"messages":${prompt},"stream":true,"model":"claude-x","background":false}`), {
    model: "claude-x",
    stream: true,
    background: false,
  });
});

test("returns null for members that a request lacks, or has with another type", () => {
  assert.deepEqual(scanText('{"model":7,"stream":"true","background":null}'), {
    model: null,
    stream: null,
    background: null,
  });
  assert.deepEqual(scanText(""), { model: null, stream: null, background: null });
});

test("returns null for a body that is not JSON, even when it began like JSON", () => {
  const unknown = { model: null, stream: null, background: null };
  assert.deepEqual(scan([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00])]), unknown);
  assert.deepEqual(scanText('{"model":"a","stream":true} trailing'), unknown);
});

test("knows the model before the rest of a long request has arrived", () => {
  assert.equal(scanText('{"model":"a","messages":[{"content":"and so on').model, "a");
});

test("a small body keeps its model if a space follows after its prompt was read", () => {
  const request = createRequestScanner({ key: 1, checksum: (bytes, start) => bytes.length + start });
  request.feed(Buffer.from('{"model":"m","messages":[]}'));
  assert.ok(request.readPrompt?.() !== undefined);
  request.feed(Buffer.from("\n"));
  assert.equal(request.model, "m");
});

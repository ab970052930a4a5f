// A compressed response that cannot be decoded to its end has no usage in its record: no counts, and no bill either.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { createResponseMeter } from "../../../src/proxy/exchange/response-meter.ts";

test("a compressed stream with a wrong checksum has neither counts nor a bill", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.01 };
  const choices = [{ index: 0, delta: { content: "x" }, finish_reason: "stop" }];
  const last = JSON.stringify({ id: "x", model: "m", choices, usage });
  // Comments, so that the usage is decoded long before the end.
  const comments = `: ${randomBytes(100_000).toString("hex")}\n\n`;
  const body = gzipSync(`data: ${last}\n\ndata: [DONE]\n\n${comments}`);
  // Checksum and length (RFC 1952, section 2.3.1).
  body.fill(0, body.length - 8);
  const setup = { dialect: "chat", spend: "count", status: 200, inputIncludesCache: false } as const;
  const meter = createResponseMeter({ ...setup, contentType: "text/event-stream" }, "gzip");
  meter.feed(body);
  const reading = await meter.finish(true);
  assert.deepEqual(
    [reading.flags, reading.usage, reading.tokens, reading.billed_usd],
    [["decode_failed"], "absent", null, null],
  );
});

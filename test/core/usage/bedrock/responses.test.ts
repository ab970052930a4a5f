// What the meter reads in responses of Amazon Bedrock. The events, their members and their counts are those of responses that
// traceloop/openllmetry recorded (Apache-2.0), with texts of our own.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterSetup } from "../../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../../src/core/usage/reading.ts";
import { readBedrockHeaders } from "../../../../src/core/usage/bedrock/headers.ts";
import {
  chunkFrame,
  eventFrame,
  EVENT_STREAM_TYPE,
  exceptionFrame,
} from "../../../helpers/upstream/bedrock-frames.ts";
import { meterChunks, singleBytes } from "../corpus.ts";
import { jsonSetup, nonZeroCounts, readBody, setup } from "../response-bodies.ts";

const FRAMES = setup({ dialect: "bedrock", contentType: EVENT_STREAM_TYPE });
const DOCUMENT = jsonSetup({ dialect: "bedrock" });
const METRICS = "amazon-bedrock-invocationMetrics";

/** Reads frames in one chunk, byte by byte, and cut at each of some offsets, which must give the same. */
function readFrames(frames: readonly Buffer[], isWhole = true, changed: MeterSetup = FRAMES): MeterReading {
  const bytes = Buffer.concat(frames);
  const reading = meterChunks(changed, [bytes], isWhole);
  assert.deepEqual(meterChunks(changed, singleBytes(bytes), isWhole), reading);
  for (let at = 1; at < bytes.length; at += 3)
    assert.deepEqual(meterChunks(changed, [bytes.subarray(0, at), bytes.subarray(at)], isWhole), reading);
  return reading;
}

/** Headers of a response, as the meter gets them. */
const said = (headers: Record<string, string>, asked: string | null = null) =>
  readBedrockHeaders({ get: (name: string) => headers[name] }, asked);

const START = {
  type: "message_start",
  message: {
    id: "msg_bdrk_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5-20250929",
    content: [],
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 1458,
      cache_read_input_tokens: 18_131,
      cache_creation: { ephemeral_5m_input_tokens: 1458, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
    },
  },
};

const CLAUDE = [
  START,
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Good morning" } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 21 },
  },
];

const STOP = {
  type: "message_stop",
  [METRICS]: {
    inputTokenCount: 3,
    outputTokenCount: 21,
    invocationLatency: 738,
    firstByteLatency: 378,
    cacheReadInputTokenCount: 18_131,
    cacheWriteInputTokenCount: 1458,
  },
};

test("Claude's stream is one of chunks with the events of the Messages API", () => {
  const reading = readFrames([...CLAUDE, STOP].map((event) => chunkFrame(event)));
  assert.deepEqual(nonZeroCounts(reading), {
    input_uncached: 3,
    cache_read: 18_131,
    cache_write: 1458,
    cache_write_5m: 1458,
    output: 21,
  });
  assert.deepEqual(
    [reading.outcome, reading.usage, reading.spend, reading.stop, reading.model, reading.response_id],
    ["completed", "final", "count", "end_turn", "claude-sonnet-4-5-20250929", "msg_bdrk_1"],
  );
  assert.deepEqual(reading.flags, ["bedrock_invocation_metrics"]);
});

test("a stream of Claude's that was cut keeps its first counts, and an estimate of what it brought", () => {
  const reading = readFrames(CLAUDE.slice(0, 3).map((event) => chunkFrame(event)));
  assert.deepEqual([reading.outcome, reading.usage, reading.tokens?.output], ["cut", "partial", 1]);
  assert.equal((reading.output_estimate ?? 0) > 0, true);
});

const CONVERSE = [
  eventFrame("messageStart", { p: "abcdefg", role: "assistant" }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Okay" }, p: "ab" }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 1, delta: { toolUse: { input: '{"a":' } }, p: "ab" }),
  eventFrame("contentBlockStop", { contentBlockIndex: 1, p: "abcd" }),
  eventFrame("messageStop", { p: "abcdefghijkl", stopReason: "tool_use" }),
];

const USAGE = {
  inputTokens: 236,
  outputTokens: 58,
  totalTokens: 1294,
  cacheReadInputTokens: 900,
  cacheWriteInputTokens: 100,
  cacheDetails: [
    { ttl: "1h", inputTokens: 40 },
    { ttl: "5m", inputTokens: 60 },
  ],
  serverToolUsage: {},
};

const METADATA = eventFrame("metadata", {
  metrics: { latencyMs: 1176 },
  p: "abc",
  serviceTier: { type: "priority" },
  usage: USAGE,
});

const COUNTED = {
  input_uncached: 236,
  cache_read: 900,
  cache_write: 100,
  cache_write_5m: 60,
  cache_write_1h: 40,
  output: 58,
};

test("the last event of Converse has the usage, in which the cache stands beside the input", () => {
  const reading = readFrames([...CONVERSE, METADATA]);
  assert.deepEqual(nonZeroCounts(reading), COUNTED);
  assert.deepEqual(
    [reading.outcome, reading.usage, reading.stop, reading.service_tier, reading.flags],
    ["completed", "final", "tool_use", "priority", []],
  );
  assert.deepEqual(reading.raw_usage, USAGE);
  const cut = readFrames(CONVERSE);
  assert.deepEqual([cut.outcome, cut.usage, cut.tokens, cut.stop], ["cut", "absent", null, "tool_use"]);
});

test("Converse as a document is read the same", () => {
  const content = [{ text: "Okay" }];
  const body = {
    metrics: { latencyMs: 1562 },
    output: { message: { content, role: "assistant" } },
    serviceTier: { type: "priority" },
    stopReason: "guardrail_intervened",
    usage: USAGE,
  };
  const reading = readBody(body, DOCUMENT);
  assert.deepEqual(nonZeroCounts(reading), COUNTED);
  assert.deepEqual([reading.outcome, reading.usage, reading.service_tier], ["refused", "final", "priority"]);
});

test("a total may leave the cache out, and any other contradicts", () => {
  for (const [totalTokens, usage, flags] of [
    [1294, "final", []],
    [294, "final", []],
    [300, "partial", ["total_mismatch"]],
  ] as const) {
    const reading = readBody({ usage: { ...USAGE, totalTokens } }, DOCUMENT);
    assert.deepEqual([reading.usage, reading.flags], [usage, flags]);
  }
});

test("each outcome of Converse", () => {
  for (const [stopReason, outcome] of [
    ["end_turn", "completed"],
    ["max_tokens", "incomplete"],
    ["malformed_tool_use", "incomplete"],
    ["content_filtered", "refused"],
    ["something_new", "completed"],
  ] as const)
    assert.equal(readBody({ stopReason, usage: USAGE }, DOCUMENT).outcome, outcome);
});

test("what other models are invoked for is counted by Bedrock's own metrics, whatever their events have", () => {
  const metrics = {
    inputTokenCount: 30,
    outputTokenCount: 55,
    cacheReadInputTokenCount: 7,
    cacheWriteInputTokenCount: 0,
  };
  const nova = [
    { messageStart: { role: "assistant" } },
    { contentBlockDelta: { delta: { text: "On" }, contentBlockIndex: 0 } },
    { messageStop: { stopReason: "max_tokens" } },
    {
      metadata: { usage: { inputTokens: 30, outputTokens: 55 }, metrics: {}, trace: {} },
      [METRICS]: metrics,
    },
  ];
  const titan = [
    { outputText: "Once", index: 0, inputTextTokenCount: 30 },
    {
      outputText: "",
      index: 0,
      totalOutputTextTokenCount: 1.0,
      completionReason: "FINISH",
      [METRICS]: metrics,
    },
  ];
  for (const [events, outcome] of [
    [nova, "incomplete"],
    [titan, "completed"],
  ] as const) {
    const reading = readFrames(events.map((event) => chunkFrame(event)));
    assert.deepEqual(nonZeroCounts(reading), { input_uncached: 30, cache_read: 7, output: 55 });
    assert.deepEqual([reading.outcome, reading.usage], [outcome, "final"]);
    assert.deepEqual(reading.flags, ["bedrock_invocation_metrics"]);
  }
});

test("a stream of another model that ends without metrics is whole if its body is, and its usage is absent", () => {
  const blocked = [chunkFrame({ outputText: "Input blocked", index: 0, totalOutputTextTokenCount: 3 })];
  const whole = readFrames(blocked);
  assert.deepEqual([whole.outcome, whole.usage, whole.spend], ["completed", "absent", "never"]);
  assert.equal(readFrames(blocked, false).outcome, "cut");
});

const HEADERS = {
  "x-amzn-bedrock-input-token-count": "28",
  "x-amzn-bedrock-output-token-count": "197",
  "x-amzn-bedrock-cache-read-input-token-count": "5",
  "x-amzn-bedrock-cache-write-input-token-count": "0",
  "x-amzn-bedrock-service-tier": "flex",
};

test("a document of another model is counted by its headers; Claude's by its own usage", () => {
  const changed = { ...DOCUMENT, said: said(HEADERS) };
  for (const body of [
    {
      inputTextTokenCount: 28,
      results: [{ tokenCount: 197, outputText: "Once", completionReason: "FINISH" }],
    },
    // Of Nova behind a guardrail.
    { output: {}, stopReason: "end_turn", usage: { inputTokens: 28 } },
  ]) {
    const reading = readBody(body, changed);
    assert.deepEqual(nonZeroCounts(reading), { input_uncached: 28, cache_read: 5, output: 197 });
    assert.deepEqual([reading.usage, reading.service_tier], ["final", "flex"]);
    assert.deepEqual(reading.flags, ["bedrock_invocation_metrics"]);
  }
  const message = {
    id: "msg_bdrk_1",
    type: "message",
    model: "claude-3-5-haiku-20241022",
    content: [],
    stop_reason: "max_tokens",
    usage: {
      input_tokens: 4,
      cache_creation_input_tokens: 18_131,
      cache_read_input_tokens: 0,
      output_tokens: 50,
    },
  };
  const claude = readBody(message, changed);
  assert.deepEqual(nonZeroCounts(claude), {
    input_uncached: 4,
    cache_write: 18_131,
    cache_write_ttl_unknown: 18_131,
    output: 50,
  });
  assert.deepEqual([claude.outcome, claude.service_tier, claude.flags], ["incomplete", "flex", []]);
});

test("the model is that of the path, with its regions, if the response names the same", () => {
  for (const [asked, model] of [
    ["global.anthropic.claude-sonnet-4-5-20250929-v1:0", "global.anthropic.claude-sonnet-4-5-20250929-v1:0"],
    ["global.anthropic.claude-opus-4-5-v1:0", "claude-sonnet-4-5-20250929"],
    [null, "claude-sonnet-4-5-20250929"],
  ] as const) {
    const changed = { ...FRAMES, said: said({}, asked) };
    const frames = [...CLAUDE, STOP].map((event) => chunkFrame(event));
    assert.equal(readFrames(frames, true, changed).model, model);
  }
});

test("headers that are no counts count nothing", () => {
  const wrong = Object.fromEntries(Object.keys(HEADERS).map((name) => [name, "1e3"]));
  assert.deepEqual(said(wrong).counts, {});
  assert.equal(readBody({ results: [] }, { ...DOCUMENT, said: said(wrong) }).usage, "absent");
});

test("an exception in a stream is its error, and what was counted before is a lower bound", () => {
  const early = readFrames([exceptionFrame("throttlingException")]);
  assert.deepEqual(
    [early.outcome, early.error_type, early.usage, early.tokens],
    ["error", "throttlingException", "absent", null],
  );
  const late = readFrames([
    ...CLAUDE.slice(0, 3).map((one) => chunkFrame(one)),
    exceptionFrame("modelStreamErrorException"),
  ]);
  assert.deepEqual(
    [late.outcome, late.error_type, late.usage, late.tokens?.cache_read],
    ["error", "modelStreamErrorException", "partial", 18_131],
  );
  const converse = readFrames([...CONVERSE, exceptionFrame("internalServerException")]);
  assert.deepEqual([converse.outcome, converse.error_type], ["error", "internalServerException"]);
});

test("the type of an error is in its headers", () => {
  for (const [header, type] of [
    ["ThrottlingException", "ThrottlingException"],
    ["ThrottlingException:http://internal.amazon.com/coral/", "ThrottlingException"],
    ["com.amazonaws.bedrock#ThrottlingException", "ThrottlingException"],
    ["two words", null],
  ] as const) {
    const changed = { ...DOCUMENT, status: 429, said: said({ "x-amzn-errortype": header }) };
    assert.equal(readBody({ message: "Too many requests" }, changed).error_type, type);
  }
});

test("frames are known by their first byte, whatever the content type says, and a document by its brace", () => {
  const reading = readFrames([...CONVERSE, METADATA], true, DOCUMENT);
  assert.deepEqual(nonZeroCounts(reading), COUNTED);
  assert.deepEqual(nonZeroCounts(readBody({ usage: USAGE }, FRAMES)), COUNTED);
});

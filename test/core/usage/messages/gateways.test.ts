import assert from "node:assert/strict";
import { test } from "node:test";
import {
  nonZeroCounts,
  jsonSetup,
  messageEvents,
  readBody,
  readUsages,
  setup,
  stream,
} from "../response-bodies.ts";

// Usage as services and gateways other than Anthropic report it (docs/wire.md section 9).

test("Kimi: the delta corrects a start whose input includes the cache", () => {
  const reading = readUsages([
    {
      input_tokens: 173306,
      cache_read_input_tokens: 0,
      prompt_tokens: 173306,
      cached_tokens: 0,
      output_tokens: 0,
    },
    { input_tokens: 250, cache_read_input_tokens: 173056, output_tokens: 40 },
  ]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 250, cache_read: 173056, output: 40 });
  assert.deepEqual(reading.flags, []);
});

test("Qwen: reads cache counts from the delta, with a split of one lifetime", () => {
  const cache_creation = { ephemeral_5m_input_tokens: 12 };
  const reading = readUsages([
    { input_tokens: 8834, output_tokens: 0 },
    {
      input_tokens: 18,
      cache_read_input_tokens: 8831,
      cache_creation_input_tokens: 12,
      cache_creation,
      output_tokens: 7,
    },
  ]);
  assert.deepEqual(nonZeroCounts(reading), {
    input_uncached: 18,
    cache_read: 8831,
    cache_write: 12,
    cache_write_5m: 12,
    output: 7,
  });
});

test("MiniMax and GLM: reads the usage from the delta after a start of zeros", () => {
  const reading = readUsages([
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: 1, cache_read_input_tokens: 8990, output_tokens: 3 },
  ]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 1, cache_read: 8990, output: 3 });
  assert.deepEqual(reading.flags, []);
});

test("DeepSeek: adds cache hits and misses up to the input", () => {
  const usage = { prompt_cache_hit_tokens: 256, prompt_cache_miss_tokens: 110, completion_tokens: 59 };
  const reading = readBody({ type: "message", usage }, jsonSetup());
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 110, cache_read: 256, output: 59 });
  assert.deepEqual([reading.flags, reading.usage], [["openai_names"], "final"]);
});

test("LiteLLM: reads the names of chat completions, whose input includes the cache", () => {
  const usage = {
    prompt_tokens: 100,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
    completion_tokens: 20,
    completion_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 120,
  };
  const expected = {
    input_uncached: 30,
    cache_read: 60,
    cache_write: 10,
    cache_write_ttl_unknown: 10,
    output: 20,
    reasoning: 5,
  };
  const reading = readUsages([{}, usage]);
  assert.deepEqual(nonZeroCounts(reading), expected);
  assert.deepEqual([reading.flags, reading.usage], [["openai_names"], "final"]);
  const { flags, usage: state } = readUsages([{}, { ...usage, total_tokens: 119 }]);
  assert.deepEqual([flags, state], [["openai_names", "total_mismatch"], "partial"]);
});

test("SGLang: keeps the start's input when the delta omits it or has 0", () => {
  assert.deepEqual(
    nonZeroCounts(readUsages([{ input_tokens: 30, output_tokens: 0 }, { output_tokens: 9 }])),
    {
      input_uncached: 30,
      output: 9,
    },
  );
  const filled = readUsages([
    { input_tokens: 30, output_tokens: 0 },
    { input_tokens: 0, output_tokens: 9 },
  ]);
  assert.deepEqual(nonZeroCounts(filled), { input_uncached: 30, output: 9 });
  assert.deepEqual([filled.flags, filled.usage], [["delta_zero_placeholder"], "partial"]);
});

test("vLLM: reads cache counts that come only with the delta", () => {
  const reading = readUsages([
    { input_tokens: 50, output_tokens: 0 },
    { input_tokens: 10, cache_read_input_tokens: 40, output_tokens: 2 },
  ]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 10, cache_read: 40, output: 2 });
});

test("CLIProxyAPI: reads the usage from the delta after a start without usage", () => {
  const [, ...rest] = messageEvents([{}, { input_tokens: 4, output_tokens: 2 }]);
  const start = { type: "message_start", message: { id: "chatcmpl-1", model: "m" } };
  const reading = readBody(stream([start, ...rest]), setup());
  assert.deepEqual(
    [reading.response_id, reading.usage, nonZeroCounts(reading)],
    ["chatcmpl-1", "final", { input_uncached: 4, output: 2 }],
  );
});

test("Bedrock: the metrics of message_stop override other counts, and stay verbatim in raw_usage", () => {
  const metrics = {
    inputTokenCount: 7,
    outputTokenCount: 22,
    cacheReadInputTokenCount: 300,
    cacheWriteInputTokenCount: 4,
    invocationLatency: 812,
  };
  const [start, delta] = messageEvents([{ input_tokens: 7, output_tokens: 1 }, { output_tokens: 21 }]);
  const stop = { type: "message_stop", "amazon-bedrock-invocationMetrics": metrics };
  const reading = readBody(stream([start ?? {}, delta ?? {}, stop]), setup());
  assert.deepEqual(nonZeroCounts(reading), {
    input_uncached: 7,
    cache_read: 300,
    cache_write: 4,
    cache_write_ttl_unknown: 4,
    output: 22,
  });
  assert.deepEqual([reading.flags, reading.usage], [["bedrock_invocation_metrics"], "final"]);
  assert.deepEqual(reading.raw_usage?.["amazon-bedrock-invocationMetrics"], metrics);
  assert.equal(readBody(stream([start ?? {}, stop]), setup()).usage, "final");
});

test("new-api: reads its own names for the split, and takes prompt_tokens in Anthropic's meaning", () => {
  const usage = {
    input_tokens: 500,
    prompt_tokens: 500,
    usage_semantic: "anthropic",
    cache_read_input_tokens: 200,
    cache_creation_input_tokens: 30,
    claude_cache_creation_5_m_tokens: 10,
    claude_cache_creation_1_h_tokens: 20,
    output_tokens: 9,
  };
  const reading = readUsages([{}, usage]);
  assert.deepEqual(nonZeroCounts(reading), {
    input_uncached: 500,
    cache_read: 200,
    cache_write: 30,
    cache_write_5m: 10,
    cache_write_1h: 20,
    output: 9,
  });
  assert.deepEqual(reading.flags, []);
});

test("subtracts the cache from an input that is repeated as prompt_tokens", () => {
  const usage = { input_tokens: 500, prompt_tokens: 500, cache_read_input_tokens: 400, output_tokens: 9 };
  const reading = readUsages([{}, usage]);
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 100, cache_read: 400, output: 9 });
  assert.equal(reading.tokens?.input_total, 500);
  assert.deepEqual(reading.flags, ["input_included_cache"]);
});

test("subtracts the cache from an ambiguous input only when the upstream is configured so", () => {
  const usage = {
    input_tokens: 500,
    cache_read_input_tokens: 400,
    cache_creation_input_tokens: 50,
    output_tokens: 9,
  };
  const cache = { cache_read: 400, cache_write: 50, cache_write_ttl_unknown: 50, output: 9 };
  assert.deepEqual(nonZeroCounts(readUsages([{}, usage])), { input_uncached: 500, ...cache });
  const corrected = readUsages([{}, usage], { inputIncludesCache: true });
  assert.deepEqual(nonZeroCounts(corrected), { input_uncached: 50, ...cache });
  assert.deepEqual(corrected.flags, ["input_included_cache"]);
});

test("does not subtract the cache from an input smaller than it, however the upstream is configured", () => {
  const reading = readUsages([{}, { input_tokens: 250, cache_read_input_tokens: 173056, output_tokens: 1 }], {
    inputIncludesCache: true,
  });
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 250, cache_read: 173056, output: 1 });
  assert.deepEqual(reading.flags, []);
});

test("reports unknown reasoning when it exceeds the output", () => {
  const reading = readUsages([
    { input_tokens: 1 },
    { output_tokens: 5, output_tokens_details: { thinking_tokens: 6 } },
  ]);
  assert.equal(reading.tokens?.reasoning, null);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeterSetup } from "../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { grandTotal } from "./totals.ts";
import { nonZeroCounts, jsonSetup, readBody, setup, stream } from "./response-bodies.ts";

const USAGE = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
const CREATED = {
  type: "response.created",
  response: { id: "resp_1", model: "m", status: "in_progress", service_tier: "auto", usage: null },
};

function readEvents(events: object[], changes: Partial<MeterSetup> = {}, whole = true): MeterReading {
  return readBody(stream([CREATED, ...events]), setup({ dialect: "responses", ...changes }), whole);
}

function readResponse(response: object, changes: Partial<MeterSetup> = {}): MeterReading {
  return readBody({ id: "resp_1", model: "m", ...response }, jsonSetup({ dialect: "responses", ...changes }));
}

test("subtracts cache reads and writes from the input, and keeps reasoning in the output", () => {
  const usage = {
    ...USAGE,
    input_tokens_details: {
      cached_tokens: 60,
      cache_write_tokens: 30,
      cache_write_tokens_details: { ttl_30m_tokens: 10, ttl_12h_tokens: 20 },
    },
    output_tokens_details: { reasoning_tokens: 15 },
  };
  const reading = readResponse({ status: "completed", usage });
  assert.deepEqual(nonZeroCounts(reading), {
    input_uncached: 10,
    cache_read: 60,
    cache_write: 30,
    cache_write_30m: 10,
    cache_write_12h: 20,
    output: 20,
    reasoning: 15,
  });
  assert.deepEqual([reading.tokens?.input_total, reading.tokens?.total], [100, 120]);
  assert.deepEqual([reading.usage, reading.spend, reading.flags], ["final", "count", []]);
  assert.deepEqual(reading.raw_usage, usage);
});

test("counts cache writes without a lifetime as unknown when the split does not add up", () => {
  const details = { cache_write_tokens: 30, cache_write_tokens_details: { ttl_30m_tokens: 10 } };
  const reading = readResponse({ status: "completed", usage: { ...USAGE, input_tokens_details: details } });
  assert.deepEqual([reading.tokens?.cache_write_30m, reading.tokens?.cache_write_ttl_unknown], [10, 20]);
  assert.deepEqual(reading.flags, ["cache_write_split_stale"]);
});

test("accepts token details that are null or missing", () => {
  const reading = readResponse({
    status: "completed",
    usage: { ...USAGE, input_tokens_details: null, output_tokens_details: null },
  });
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 100, output: 20 });
  assert.equal(reading.tokens?.reasoning, null);
});

test("reads zero counts as final usage, and missing usage as absent", () => {
  const zero = readResponse({
    status: "completed",
    usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
  });
  assert.deepEqual([zero.usage, zero.spend, zero.tokens?.total], ["final", "count", 0]);
  const none = readResponse({ status: "completed", usage: null });
  assert.deepEqual([none.usage, none.spend, none.tokens], ["absent", "never", null]);
});

test("does not subtract the cache from an input that is smaller than it", () => {
  const usage = { input_tokens: 250, input_tokens_details: { cached_tokens: 173056 }, output_tokens: 40 };
  const reading = readResponse({ status: "completed", usage });
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 250, cache_read: 173056, output: 40 });
  assert.deepEqual([reading.flags, reading.usage], [["negative_uncached"], "partial"]);
});

test("counts what only the total has as output, as for Chat Completions", () => {
  const reading = readResponse({ status: "completed", usage: { ...USAGE, total_tokens: 121 } });
  assert.deepEqual(
    [reading.flags, reading.tokens?.total, reading.usage],
    [["total_exceeds_sum"], 121, "final"],
  );
});

test("a total below the sum is flagged, and the usage is not exact", () => {
  // openclaw/openclaw#117532: the gateway's total leaves the cache out.
  const usage = {
    input_tokens: 6,
    input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
    output_tokens: 5,
    total_tokens: 7,
  };
  const reading = readResponse({ status: "completed", usage });
  assert.deepEqual(
    [reading.flags, reading.tokens?.total, reading.usage],
    [["total_mismatch"], 11, "partial"],
  );
});

test("the total shows what input and output leave out", () => {
  const cases: [usage: object, counts: Record<string, number>, flag: string][] = [
    // router-for-me/CLIProxyAPI#5733
    [
      {
        input_tokens: 21,
        output_tokens: 0,
        output_tokens_details: { reasoning_tokens: 60 },
        total_tokens: 81,
      },
      { input_uncached: 21, output: 60, reasoning: 60 },
      "reasoning_outside_output",
    ],
    // Menci/Floway#350
    [
      {
        input_tokens: 479,
        input_tokens_details: { cached_tokens: 13_312 },
        output_tokens: 373,
        total_tokens: 14_164,
      },
      { input_uncached: 479, cache_read: 13_312, output: 373 },
      "cache_outside_prompt",
    ],
    // Azure's Grok: more cached than input, which its kinds add up to
    [
      {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 900, text_tokens: 100 },
        output_tokens: 5,
        total_tokens: 105,
      },
      { input_uncached: 100, output: 5 },
      "cached_exceeds_prompt",
    ],
  ];
  for (const [usage, counts, flag] of cases) {
    const reading = readResponse({ status: "completed", usage });
    assert.deepEqual([nonZeroCounts(reading), reading.flags, reading.usage], [counts, [flag], "final"]);
  }
});

test("usage is not final where nothing says which of two figures is right", () => {
  const cases: [usage: object, counts: Record<string, number>, flags: string[]][] = [
    // Menci/Floway#466, BerriAI/litellm#40277: the total is what a gateway added up
    [
      {
        input_tokens: 50,
        input_tokens_details: { cached_tokens: 5_450 },
        output_tokens: 20,
        total_tokens: 70,
      },
      { input_uncached: 50, output: 20 },
      ["cached_exceeds_prompt", "undecided"],
    ],
    [
      { input_tokens: 50, output_tokens: 20, output_tokens_details: { reasoning_tokens: 300 } },
      { input_uncached: 50, output: 20 },
      ["reasoning_exceeds_output", "undecided"],
    ],
  ];
  for (const [usage, counts, flags] of cases) {
    const reading = readResponse({ status: "completed", usage });
    assert.deepEqual([nonZeroCounts(reading), reading.flags, reading.usage], [counts, flags, "partial"]);
    assert.deepEqual(reading.raw_usage, usage);
  }
});

test("reads the names of chat completions, and flags them", () => {
  const usage = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } };
  const reading = readResponse({ status: "completed", usage });
  assert.deepEqual(nonZeroCounts(reading), { input_uncached: 60, cache_read: 40, output: 20 });
  assert.deepEqual([reading.flags, reading.usage], [["openai_names"], "final"]);
});

test("reports usage without input or without output as a lower bound", () => {
  const reading = readResponse({ status: "completed", usage: { input_tokens: 7 } });
  assert.deepEqual([reading.usage, nonZeroCounts(reading)], ["partial", { input_uncached: 7 }]);
});

test("counts calls of the service's tools, and adds their tokens as extra sets", () => {
  const tool_usage = {
    web_search: { num_requests: 3 },
    code_interpreter: { num_requests: 0 },
    image_gen: { input_tokens: 50, output_tokens: 1000, total_tokens: 1050 },
  };
  const reading = readResponse({ status: "completed", usage: USAGE, tool_usage });
  assert.deepEqual(reading.server_tools, { web_search: 3 });
  assert.deepEqual(
    reading.extra.map(({ type, model, input_uncached, output, billable }) => [
      type,
      model,
      input_uncached,
      output,
      billable,
    ]),
    [["image_gen", null, 50, 1000, true]],
  );
  assert.equal(grandTotal(reading), 120 + 1050);
});

test("reads outcome and usage from each terminal event", () => {
  const ends = ["completed", "incomplete", "failed", "cancelled"];
  for (const status of ends) {
    const response = { id: "resp_1", model: "m2", status, service_tier: "flex", usage: USAGE };
    const reading = readEvents([{ type: `response.${status}`, response }]);
    assert.deepEqual([reading.outcome, reading.usage, reading.spend], [status, "final", "count"]);
    assert.deepEqual([reading.model, reading.service_tier], ["m2", "flex"]);
  }
});

test("reads the reason of an incomplete response", () => {
  const response = { status: "incomplete", incomplete_details: { reason: "content_filter" }, usage: USAGE };
  assert.equal(readEvents([{ type: "response.incomplete", response }]).stop, "content_filter");
});

test("reads a stream without terminal event as cut, even when it ends cleanly, and keeps id and model", () => {
  const reading = readEvents([{ type: "response.output_text.delta", delta: "x", usage: USAGE }]);
  assert.deepEqual([reading.outcome, reading.usage, reading.spend], ["cut", "absent", "never"]);
  assert.deepEqual([reading.response_id, reading.model], ["resp_1", "m"]);
});

test("reports absent usage for a stream that was truncated inside its terminal event", () => {
  const body = stream([CREATED, { type: "response.completed", response: { usage: USAGE, output: [] } }]);
  const reading = readBody(body.slice(0, -6), setup({ dialect: "responses" }), false);
  assert.deepEqual([reading.outcome, reading.usage, reading.tokens], ["cut", "absent", null]);
  assert.deepEqual(reading.flags, ["bad_json"]);
});

test("reads a terminal event without its blank line when its JSON is complete", () => {
  const body = stream([
    CREATED,
    { type: "response.completed", response: { status: "completed", usage: USAGE } },
  ]);
  const reading = readBody(body.trimEnd(), setup({ dialect: "responses" }), false);
  assert.deepEqual([reading.outcome, reading.usage, reading.flags], ["completed", "final", []]);
});

test("reports a running background response as pending, to be attached by its id", () => {
  for (const status of ["queued", "in_progress"]) {
    const reading = readResponse({ status, background: true, usage: null });
    assert.deepEqual(
      [reading.outcome, reading.usage, reading.spend],
      [status, "pending", "attach_by_response_id"],
    );
  }
  const early = readResponse({ status: "in_progress", background: true, usage: USAGE });
  assert.deepEqual([early.usage, early.tokens, early.spend], ["pending", null, "attach_by_response_id"]);
  const queued = { type: "response.queued", response: { id: "resp_1", status: "queued", background: true } };
  const cut = readEvents([queued], {}, false);
  assert.deepEqual([cut.outcome, cut.usage, cut.spend], ["cut", "pending", "attach_by_response_id"]);
});

test("reads the usage of a cancelled response when it has one", () => {
  const cancelled = readResponse({ status: "cancelled", background: true, usage: null });
  assert.deepEqual([cancelled.outcome, cancelled.usage, cancelled.spend], ["cancelled", "absent", "never"]);
  assert.equal(readResponse({ status: "cancelled", background: true, usage: USAGE }).usage, "final");
});

test("counts a fetched response as spend by its id", () => {
  const fetched = readResponse({ status: "completed", usage: USAGE }, { spend: "attach_by_response_id" });
  assert.deepEqual([fetched.usage, fetched.spend], ["final", "attach_by_response_id"]);
});

test("reads a compaction, which has no status and no model, as completed spend", () => {
  const body = { id: "resp_1", object: "response.compaction", output: [], usage: USAGE };
  const reading = readBody(body, jsonSetup({ dialect: "responses" }));
  assert.deepEqual(
    [reading.outcome, reading.usage, reading.spend, reading.model],
    ["completed", "final", "count", null],
  );
});

test("reads an error event in either form as an error, until a failed response follows", () => {
  const flat = { type: "error", code: "server_error", message: "", param: null, sequence_number: 7 };
  const nested = { type: "error", error: { type: "x", code: "server_error", message: "" } };
  for (const error of [flat, nested]) {
    const reading = readEvents([error]);
    assert.deepEqual(
      [reading.outcome, reading.error_type, reading.usage],
      ["error", "server_error", "absent"],
    );
  }
  const failed = {
    type: "response.failed",
    response: { status: "failed", error: { code: "insufficient_quota" }, usage: null },
  };
  const reading = readEvents([nested, failed]);
  assert.deepEqual(
    [reading.outcome, reading.error_type, reading.spend],
    ["failed", "insufficient_quota", "never"],
  );
});

test("keeps outcome and usage when an error follows the terminal event", () => {
  const completed = { type: "response.completed", response: { status: "completed", usage: USAGE } };
  const reading = readEvents([completed, { type: "error", code: "server_error" }]);
  assert.deepEqual(
    [reading.outcome, reading.error_type, reading.usage],
    ["completed", "server_error", "final"],
  );
});

test("reads the error of a failed response body", () => {
  const reading = readResponse({
    status: "failed",
    error: { code: "server_error", message: "" },
    usage: USAGE,
  });
  assert.deepEqual([reading.outcome, reading.error_type, reading.usage], ["failed", "server_error", "final"]);
});

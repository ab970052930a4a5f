import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMoney } from "../../../src/core/price/money.ts";
import { missedCostOf } from "../../../src/core/price/missed.ts";
import { describeMiss, habitFor } from "../../../src/core/misses/reasons.ts";
import { createMeter } from "../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

type Json = Record<string, unknown>;

/** What a prompt of 50,000 tokens costs more if 40,000 of them are not read from the cache, by these prices. */
const PRICES = priceBook(
  { default: { baseUrl: "https://gateway.example/v1" } },
  { "house-1": { input: 2, cacheRead: 0.2, cacheWrite: 2.5, cacheWrite1h: 4, output: 10 } },
);

const MESSAGES_USAGE = {
  input_tokens: 3_000,
  cache_read_input_tokens: 7_000,
  cache_creation_input_tokens: 40_000,
  cache_creation: { ephemeral_5m_input_tokens: 40_000, ephemeral_1h_input_tokens: 0 },
  output_tokens: 100,
};
const RESPONSES_USAGE = {
  input_tokens: 50_000,
  input_tokens_details: { cached_tokens: 7_000 },
  output_tokens: 100,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 50_100,
};

function read(dialect: "messages" | "responses", contentType: string, body: string): MeterReading {
  const meter = createMeter({
    dialect,
    spend: "count",
    status: 200,
    contentType,
    inputIncludesCache: false,
  });
  for (const byte of Buffer.from(body)) meter.feed(Buffer.of(byte));
  return meter.finish(true);
}

function events(list: readonly Json[]): string {
  return list.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

const SSE = "text/event-stream";

function message(diagnostics: unknown): Json {
  return { id: "msg_1", type: "message", model: "house-1", content: [], usage: MESSAGES_USAGE, diagnostics };
}

/** A message as one document, as a stream whose start has the reason, and as one whose end has it. */
function readMessages(diagnostics: unknown): MeterReading[] {
  const end = { stop_reason: "end_turn" };
  const stream = (atStart: unknown, atEnd: object) =>
    events([
      { type: "message_start", message: message(atStart) },
      { type: "message_delta", delta: { ...end, ...atEnd }, usage: { output_tokens: 100 } },
      { type: "message_stop" },
    ]);
  return [
    read(
      "messages",
      "application/json",
      JSON.stringify({ ...message(diagnostics), stop_reason: "end_turn" }),
    ),
    read("messages", SSE, stream(diagnostics, {})),
    read("messages", SSE, stream({ cache_miss_reason: null }, { diagnostics })),
    read("messages", SSE, stream(diagnostics, { diagnostics: null })),
  ];
}

function readResponses(diagnostics: unknown): MeterReading[] {
  const response = {
    id: "resp_1",
    object: "response",
    model: "house-1",
    status: "completed",
    output: [],
    usage: RESPONSES_USAGE,
    prompt_cache_diagnostics: diagnostics,
  };
  const start = { ...response, status: "in_progress", usage: null };
  return [
    read("responses", "application/json", JSON.stringify(response)),
    read(
      "responses",
      SSE,
      events([
        { type: "response.created", response: start },
        { type: "response.completed", response },
      ]),
    ),
  ];
}

/** The reasons that the types of the services' own libraries list (docs/wire.md section 5). */
const MESSAGES_REASONS = ["model_changed", "system_changed", "tools_changed", "messages_changed"];
const RESPONSES_REASONS = (
  "model_changed prompt_cache_key_changed tools_changed text_format_changed reasoning_effort_changed " +
  "verbosity_changed context_compacted input_changed service_tier_changed"
).split(" ");

function costOfMiss(reading: MeterReading): string | null {
  const record = usageRecord({ ...reading, upstream: "default", model: "house-1" });
  const cost = missedCostOf(record, PRICES);
  return cost === null ? null : `${formatMoney(cost.amount)}${cost.isExact ? "" : " at least"}`;
}

for (const type of MESSAGES_REASONS)
  test(`the Messages API says ${type}: the reason, its tokens, and what they cost more than a hit`, () => {
    for (const reading of readMessages({ cache_miss_reason: { type, cache_missed_input_tokens: 40_000 } })) {
      assert.deepEqual(
        [reading.miss, reading.miss_by, reading.miss_tokens, reading.usage],
        [type, "said", 40_000, "final"],
      );
      // 40,000 tokens written again at $2.50 a million, where reading them costs $0.20.
      assert.equal(costOfMiss(reading), "0.092");
    }
  });

for (const reason of RESPONSES_REASONS)
  test(`the Responses API says ${reason}: the reason, its tokens, and what they cost more than a hit`, () => {
    const diagnostics = { type: "cache_miss", reason, cache_missed_tokens: 40_000 };
    for (const reading of readResponses(diagnostics)) {
      assert.deepEqual([reading.miss, reading.miss_by, reading.miss_tokens], [reason, "said", 40_000]);
      // 40,000 tokens of input at $2 a million, where reading them costs $0.20.
      assert.equal(costOfMiss(reading), "0.072");
    }
  });

test("what a service says without knowing the reason is none", () => {
  const unknown: unknown[] = [
    undefined,
    null,
    {},
    { cache_miss_reason: null },
    { cache_miss_reason: { type: "unavailable" } },
    { cache_miss_reason: { type: "previous_message_not_found" } },
    { cache_miss_reason: { type: "tools changed because of a prompt", cache_missed_input_tokens: 5 } },
    { cache_miss_reason: { type: "tools_changed", cache_missed_input_tokens: -1 } },
    { cache_miss_reason: [] },
    "tools_changed",
  ];
  for (const diagnostics of unknown)
    for (const { miss, miss_by: by, miss_tokens: count } of readMessages(diagnostics))
      assert.deepEqual([miss, by, count], [null, null, null]);
  for (const type of ["cache_hit", "comparison_response_not_found", "unavailable"])
    for (const { miss } of readResponses({ type, reason: "tools_changed", cache_missed_tokens: 5 }))
      assert.equal(miss, null);
});

test("a message that a gateway starts again takes no reason from the first one", () => {
  const diagnostics = { cache_miss_reason: { type: "tools_changed", cache_missed_input_tokens: 5 } };
  const body = events([
    { type: "message_start", message: message(diagnostics) },
    { type: "message_start", message: { ...message(null), id: "msg_2" } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ]);
  assert.equal(read("messages", SSE, body).miss, null);
});

test("every reason of a service is explained, and has a habit that avoids it", () => {
  for (const word of [...MESSAGES_REASONS, ...RESPONSES_REASONS]) {
    assert.notEqual(describeMiss(word), word);
    assert.match(habitFor(word) ?? "", /^[A-Z].*\.$/);
  }
  assert.equal(describeMiss("a_new_word"), "a_new_word");
  assert.equal(habitFor("a_new_word"), null);
});

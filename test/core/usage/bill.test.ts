import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseRecord } from "../../../src/core/ledger/parse-record.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { readBill } from "../../../src/core/usage/bill.ts";
import { createMeter } from "../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";

test("a bill is read as an exact decimal number of dollars", () => {
  const cases: [usage: Record<string, unknown>, usd: string | null][] = [
    [{}, null],
    // OpenRouter.
    [{ cost: 0.00219855 }, "0.00219855"],
    [{ cost: 1.13e-5 }, "0.0000113"],
    [{ cost: 0, is_byok: false }, "0"],
    [{ cost: -0, cost_details: { upstream_inference_cost: null } }, "0"],
    // A gateway that does not know it.
    [{ cost: 0 }, null],
    [{ cost: -0 }, null],
    [{ cost: 3, is_byok: false, cost_details: { upstream_inference_cost: 3 } }, "3"],
    // With a key of one's own: the fee, and what the provider charges.
    [{ cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } }, "0.3"],
    [{ cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: null } }, null],
    [{ cost: 0.1, is_byok: true }, null],
    // xAI: 10^-10 dollars.
    [{ cost_in_usd_ticks: 1_466_250 }, "0.000146625"],
    [{ cost_in_usd_ticks: 123_456 }, "0.0000123456"],
    [{ cost_in_usd_ticks: 0 }, "0"],
    [{ cost_in_usd_ticks: 1.5 }, null],
    [{ cost_in_usd_ticks: "12" }, null],
    // Perplexity.
    [{ cost: { total_cost: 0.00501, request_cost: 0.005 } }, "0.00501"],
    [{ cost: { total_cost: 0.00501, currency: "USD" } }, "0.00501"],
    [{ cost: { total_cost: 0.00501, currency: "CNY" } }, null],
    [{ cost: { input_tokens_cost: 1 } }, null],
    // What is no amount.
    [{ cost: "0.1" }, null],
    [{ cost: -1 }, null],
    [{ cost: 1e7 }, null],
    [{ cost: 5e-324 }, null],
    [{ cost: [1] }, null],
    [{ cost: null }, null],
    [{ pydantic_ai_gateway: { cost_estimate: 0.1 } }, null],
  ];
  for (const [usage, usd] of cases) assert.equal(readBill(usage), usd, JSON.stringify(usage));
});

test("whatever an upstream sends in its place, a bill is one that a record can have", () => {
  const amount = fc.oneof(fc.double(), fc.integer(), fc.string(), fc.jsonValue());
  const usage = fc.record(
    {
      cost: fc.oneof(
        amount,
        fc.record({ total_cost: amount, currency: fc.constantFrom("USD", "EUR", null) }),
      ),
      cost_in_usd_ticks: amount,
      is_byok: fc.constantFrom(true, false),
      cost_details: fc.record({ upstream_inference_cost: amount }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(usage, (sent) => {
      const record = { ...usageRecord(), billed_usd: readBill(sent) };
      assert.equal(typeof parseRecord(JSON.stringify(record)), "object");
    }),
  );
});

function read(dialect: "messages" | "responses" | "chat", contentType: string, body: string): MeterReading {
  const meter = createMeter({ dialect, spend: "count", status: 200, contentType, inputIncludesCache: false });
  meter.feed(Buffer.from(body));
  return meter.finish(true);
}

test("each API's meter reads the bill of a whole response", () => {
  const json = "application/json";
  const counts = { input_tokens: 3, output_tokens: 2, cost: 0.25 };
  const message = { id: "m", model: "a", stop_reason: "end_turn", usage: counts };
  assert.equal(read("messages", json, JSON.stringify(message)).billed_usd, "0.25");
  const response = { id: "r", status: "completed", usage: counts };
  assert.equal(read("responses", json, JSON.stringify(response)).billed_usd, "0.25");
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cost: 0.25 };
  const completion = { id: "c", choices: [{ index: 0, finish_reason: "stop" }], usage };
  assert.equal(read("chat", json, JSON.stringify(completion)).billed_usd, "0.25");
});

test("an interim bill of a stream that was cut is none", () => {
  const stream = "text/event-stream";
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cost: { total_cost: 0.5 } };
  const chunk = `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content: "a" } }], usage })}\n\n`;
  const cut = createMeter({
    dialect: "chat",
    spend: "count",
    status: 200,
    contentType: stream,
    inputIncludesCache: false,
  });
  cut.feed(Buffer.from(chunk));
  const reading = cut.finish(false);
  assert.equal(reading.usage, "partial");
  assert.equal(reading.billed_usd, null);
  assert.equal(read("chat", stream, `${chunk}data: [DONE]\n\n`).billed_usd, "0.5");
  const start = {
    type: "message_start",
    message: { id: "m", model: "a", usage: { input_tokens: 3, cost: 0.5 } },
  };
  const begun = read("messages", stream, `data: ${JSON.stringify(start)}\n\n`);
  assert.equal(begun.usage, "partial");
  assert.equal(begun.billed_usd, null);
});

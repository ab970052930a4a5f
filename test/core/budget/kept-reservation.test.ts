import assert from "node:assert/strict";
import { test } from "node:test";
import { keepReservation } from "../../../src/core/budget/kept-reservation.ts";
import { createReading } from "../../../src/core/usage/usage-format.ts";
import type { MeterReading } from "../../../src/core/usage/reading.ts";

const ABANDONED = createReading("cut", "absent");
/** A stream that was cut after 300 tokens of text. */
const STREAM = { ...ABANDONED, output_estimate: 300 };

const CASES: [
  what: string,
  reading: MeterReading,
  request: { model?: string; reasons?: boolean },
  input: number | null,
  output: number | null,
][] = [
  ["a request that was abandoned before any response", ABANDONED, {}, 50, 20_000],
  ["a response that is no stream, and was cut", { ...ABANDONED, model: "gpt-4o" }, {}, 50, 20_000],
  ["a stream of a model that does not reason", STREAM, { model: "gpt-4o" }, 50, null],
  ["a stream of a model that reasons unseen", STREAM, { model: "gpt-6.1-sol" }, 50, 20_000],
  ["one of its kind that does not", STREAM, { model: "gpt-5-chat-latest" }, 50, null],
  ["one of a gateway", STREAM, { model: "openai/o4-mini" }, 50, 20_000],
  ["a stream for which no reasoning was asked", STREAM, { model: "gpt-6.1-sol", reasons: false }, 50, null],
  ["a stream for which thinking was asked", STREAM, { model: "claude-opus-5", reasons: true }, 50, 20_000],
  ["a stream of messages without thinking", STREAM, { model: "claude-opus-5" }, 50, null],
  [
    "a stream with its input, for which thinking was asked",
    { ...STREAM, usage: "partial" },
    { reasons: true },
    null,
    20_000,
  ],
  ["a whole response without usage", createReading("completed", "absent"), {}, 50, null],
  ["a response that runs in the background", createReading("queued", "pending"), {}, 50, 20_000],
  ["a response with its usage", createReading("completed", "final"), { reasons: true }, null, null],
  ["a route without usage", createReading("cut", "none"), {}, null, null],
  ["a refusal", createReading("rejected", "absent"), {}, null, null],
];

for (const [what, reading, { model = "m", reasons = null }, input, output] of CASES)
  test(`of its reservation keeps what is not known: ${what}`, () => {
    const isKept = input !== null || output !== null;
    assert.deepEqual(
      keepReservation(
        reading,
        { input: 50, output: 20_000, inputClass: "cache_write_1h" },
        { reasons, tier: "priority", speed: "fast", geo: "us" },
        model,
      ),
      {
        reserved_input: input,
        reserved_output: output,
        reserved_class: input === null ? null : "cache_write_1h",
        reserved_tier: isKept ? "priority" : null,
        reserved_speed: isKept ? "fast" : null,
        reserved_geo: isKept ? "us" : null,
      },
    );
  });

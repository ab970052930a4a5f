import * as fc from "fast-check";
import { trickyText } from "./tricky-text.ts";
import type { Tokens } from "../../src/core/usage/reading.ts";
import type { StreamEvent } from "./framing.ts";
import type { ValidResponse } from "./valid-response.ts";

/** The parts of a response's usage, none of which includes another. */
interface Plan {
  id: string;
  model: string;
  uncached: number;
  read: number;
  write: number;
  visible: number;
  reasoning: number;
  hasDetails: boolean;
  status: "completed" | "incomplete" | "failed" | "cancelled";
  texts: string[];
}

const count = fc.oneof(fc.nat(9), fc.nat(1_000_000));

const plan: fc.Arbitrary<Plan> = fc.record({
  id: fc.string({ minLength: 1, maxLength: 20 }),
  model: fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }),
  uncached: count,
  read: count,
  write: count,
  visible: count,
  reasoning: count,
  hasDetails: fc.boolean(),
  status: fc.constantFrom("completed", "incomplete", "failed", "cancelled"),
  texts: fc.array(trickyText, { maxLength: 4 }),
});

/** Responses as the provider sends them: usage once, at the end, with cached tokens included in the input (docs/wire.md section 6). */
export const validResponsesResponse: fc.Arbitrary<ValidResponse> = plan.map((made): ValidResponse => {
  const { id, model, status, texts } = made;
  const response = { id, object: "response", model, error: null, output: texts, usage: null };
  const done = { ...response, status, usage: usageOf(made) };
  const events: StreamEvent[] = [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    ...texts.map((text) => ({ type: "response.output_text.delta", delta: text, usage: { input_tokens: 1 } })),
    { type: "response.output_item.done", item: { type: "message", response: done } },
    { type: `response.${status}`, response: done },
  ];
  return {
    dialect: "responses",
    events,
    finalUsageEvent: events.length - 1,
    document: done,
    expected: {
      response_id: id,
      model,
      outcome: status,
      usage: "final",
      spend: "count",
      tokens: tokensOf(made),
      extra: [],
      flags: [],
      raw_usage: done.usage,
    },
  };
});

function usageOf({ uncached, read, write, visible, reasoning, hasDetails }: Plan): Record<string, unknown> {
  const [input, output] = [uncached + read + write, visible + reasoning];
  return {
    input_tokens: input,
    input_tokens_details: hasDetails ? { cached_tokens: read, cache_write_tokens: write } : null,
    output_tokens: output,
    output_tokens_details: hasDetails ? { reasoning_tokens: reasoning } : null,
    total_tokens: input + output,
  };
}

function tokensOf({ uncached, read, write, visible, reasoning, hasDetails }: Plan): Tokens {
  const [input, output] = [uncached + read + write, visible + reasoning];
  return {
    input_uncached: hasDetails ? uncached : input,
    cache_read: hasDetails ? read : 0,
    cache_write: hasDetails ? write : 0,
    cache_write_5m: 0,
    cache_write_1h: 0,
    cache_write_30m: 0,
    cache_write_12h: 0,
    cache_write_ttl_unknown: hasDetails ? write : 0,
    input_total: input,
    output,
    reasoning: hasDetails ? reasoning : null,
    total: input + output,
  };
}

import * as fc from "fast-check";
import { trickyText } from "./tricky-text.ts";
import type { Tokens } from "../../src/core/usage/reading.ts";
import type { StreamEvent } from "./framing.ts";
import type { ValidResponse } from "./valid-response.ts";

/** The counts of `message_start`, and those of each `message_delta`; left out where it has none. */
interface Plan {
  id: string;
  model: string;
  input: number;
  read: number | null;
  split: { m5: number; h1: number } | null;
  steps: { input?: number; read?: number | null; grown?: number; output: number }[];
  thinking: number | null;
  stop: "end_turn" | "max_tokens" | "refusal" | "pause_turn" | "tool_use";
  texts: string[];
}

const OUTCOMES = {
  end_turn: "completed",
  tool_use: "completed",
  max_tokens: "incomplete",
  refusal: "refused",
  pause_turn: "paused",
} as const;

const count = fc.oneof(fc.nat(9), fc.nat(1_000_000));
/** Zeros in all three input counts are a placeholder, which another rule covers. */
const positive = count.map((n) => n + 1);

const plan: fc.Arbitrary<Plan> = fc
  .record({
    id: fc.string({ minLength: 1, maxLength: 20 }),
    model: fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }),
    input: count,
    read: fc.option(count),
    split: fc.option(fc.record({ m5: count, h1: count })),
    steps: fc.array(
      fc.record(
        { input: positive, read: fc.option(positive), grown: count, output: count },
        { requiredKeys: ["output"] },
      ),
      { minLength: 1, maxLength: 4 },
    ),
    thinking: fc.option(fc.nat(9)),
    stop: fc.constantFrom("end_turn", "max_tokens", "refusal", "pause_turn", "tool_use"),
    texts: fc.array(trickyText, { maxLength: 4 }),
  })
  .map((made) => ({ ...made, steps: makeCumulative(made) }));

/** Raises counts so that neither the input nor the output of a step is below the one before: a valid stream's counts never fall. */
function makeCumulative({ input, read, steps }: Plan): Plan["steps"] {
  const inputs = { input, read: read ?? 0, grown: 0 };
  let [total, output] = [input + inputs.read, 0];
  return steps.map((step) => {
    const raised = { ...step, output: Math.max(output, step.output) };
    for (const name of ["input", "read", "grown"] as const) inputs[name] = raised[name] ?? inputs[name];
    const missing = total - (inputs.input + inputs.read + inputs.grown);
    const name = (["input", "read", "grown"] as const).find((n) => typeof raised[n] === "number");
    if (missing > 0 && name !== undefined) inputs[name] = raised[name] = inputs[name] + missing;
    total = inputs.input + inputs.read + inputs.grown;
    output = raised.output;
    return raised;
  });
}

/** Messages responses as the provider sends them: later counts replace earlier ones (docs/wire.md section 5). */
export const validMessagesResponse: fc.Arbitrary<ValidResponse> = plan.map((made): ValidResponse => {
  const { id, model, split, steps, stop, texts } = made;
  const final = finalCounts(made);
  const deltas = steps.map((step, i) => delta(step, made, i === steps.length - 1));
  const events: StreamEvent[] = [
    { type: "message_start", message: { id, role: "assistant", model, usage: startUsage(made) } },
    { type: "ping", usage: { input_tokens: 1 } },
    ...texts.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    ...deltas,
    { type: "message_stop" },
  ];
  return {
    dialect: "messages",
    events,
    finalUsageEvent: events.length - 2,
    document: {
      id,
      content: texts,
      model,
      stop_reason: stop,
      usage: { ...startUsage(made), ...lastUsage(made) },
    },
    expected: {
      response_id: id,
      model,
      stop,
      outcome: OUTCOMES[stop],
      usage: "final",
      spend: "count",
      tokens: final,
      extra: [],
      flags: split !== null && final.cache_write_ttl_unknown > 0 ? ["cache_write_split_stale"] : [],
    },
  };
});

function startUsage({ input, read, split }: Plan): object {
  const write =
    split === null
      ? {}
      : { cache_creation_input_tokens: split.m5 + split.h1, cache_creation: splitOf(split) };
  return { input_tokens: input, cache_read_input_tokens: read, ...write, output_tokens: 1 };
}

function splitOf({ m5, h1 }: { m5: number; h1: number }): object {
  return { ephemeral_5m_input_tokens: m5, ephemeral_1h_input_tokens: h1 };
}

function delta(step: Plan["steps"][number], made: Plan, isLast: boolean): StreamEvent {
  const usage = { ...usageOf(step, made), ...(isLast ? thinkingOf(made) : {}) };
  return { type: "message_delta", delta: { stop_reason: isLast ? made.stop : null }, usage };
}

function usageOf({ input, read, grown, output }: Plan["steps"][number], { split }: Plan): object {
  return {
    ...(input === undefined ? {} : { input_tokens: input }),
    ...(read === undefined ? {} : { cache_read_input_tokens: read }),
    ...(grown === undefined ? {} : { cache_creation_input_tokens: writeOf(split) + grown }),
    output_tokens: output,
  };
}

function writeOf(split: Plan["split"]): number {
  return split === null ? 0 : split.m5 + split.h1;
}

function thinkingOf({ thinking }: Plan): object {
  return thinking === null ? {} : { output_tokens_details: { thinking_tokens: thinking } };
}

/** The merged usage of all steps, for the document. */
function lastUsage(made: Plan): object {
  const merged = made.steps.map((step) =>
    Object.entries(usageOf(step, made)).filter(([, value]) => value !== null),
  );
  return { ...Object.fromEntries(merged.flat()), ...thinkingOf(made) };
}

function finalCounts({ input, read, split, steps, thinking }: Plan): Tokens {
  let [uncached, cacheRead, write, output] = [input, read ?? 0, writeOf(split), 0];
  for (const step of steps) {
    uncached = step.input ?? uncached;
    cacheRead = step.read ?? cacheRead;
    if (step.grown !== undefined) write = writeOf(split) + step.grown;
    output = step.output;
  }
  const total = uncached + cacheRead + write;
  return {
    input_uncached: uncached,
    cache_read: cacheRead,
    cache_write: write,
    cache_write_5m: split?.m5 ?? 0,
    cache_write_1h: split?.h1 ?? 0,
    cache_write_30m: 0,
    cache_write_12h: 0,
    cache_write_ttl_unknown: write - writeOf(split),
    input_total: total,
    output,
    reasoning: thinking !== null && thinking <= output ? thinking : null,
    total: total + output,
  };
}

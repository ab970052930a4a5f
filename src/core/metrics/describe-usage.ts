import { formatMoney } from "../price/money.ts";
import { CERTAINTY, TOKEN_MODALITY, TOOL, USAGE } from "./exchange-attributes.ts";
import type { Metric, Point } from "./metric.ts";
import type { UsageMetrics } from "./usage-metrics.ts";
import { CERTAINTIES, USAGE_STATES, type UsageSeries } from "./usage-series.ts";

/** The conventions require the attribute, but services do not say which tokens were text. */
const UNKNOWN_MODALITY = { [TOKEN_MODALITY]: "unknown" };

const NO_ATTRIBUTES = {};

/**
 * Token counters by the conventions for generative AI, whose names they have. Subsets, which may never be added to their whole:
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-token-metrics.md
 */
const TOKEN_METRICS = [
  ["input", "input_tokens", "Input tokens, including those read from and written to caches."],
  ["output", "output_tokens", "Output tokens, including reasoning."],
  ["cache_read", "cache_read.input_tokens", "Input tokens that were read from a cache."],
  ["cache_write", "cache_write.input_tokens", "Input tokens that were written to a cache."],
  [
    "reasoning",
    "reasoning.output_tokens",
    "Output tokens that were reasoning, where the response reports them.",
  ],
] as const;

/** Returns what was counted as metrics, which are read when a writer asks for their points. */
export function describeUsage(usage: UsageMetrics): Metric[] {
  return [
    ...TOKEN_METRICS.map(([count, name, help]) =>
      counter(`gen_ai.client.inference.usage.${name}`, "{token}", help, usage, ({ counts, attributes }) => [
        { attributes, more: UNKNOWN_MODALITY, value: counts[count] },
      ]),
    ),
    counter(
      "tollkeeper.requests",
      "{request}",
      "Requests that have ended, by outcome. Reports count those with tollkeeper.counted_as request.",
      usage,
      ({ attributes, requests }) =>
        Array.from(requests.all(), ({ attributes: more, count: value }) => ({ attributes, more, value })),
    ),
    counter(
      "tollkeeper.cost.usd",
      "{USD}",
      "Cost of requests in US dollars. A lower bound if tollkeeper.priced_requests counts any that are not exact.",
      usage,
      ({ attributes, cost }) => [{ attributes, value: formatMoney(cost) }],
    ),
    byState(
      "tollkeeper.priced_requests",
      "Requests by the certainty of their cost: exact, a lower bound, unpriced in part or whole, or unknown.",
      usage,
      CERTAINTY,
      CERTAINTIES,
    ),
    byState(
      "tollkeeper.metered_requests",
      "Requests by how reliable their token counts are: final, partial (a lower bound), or absent (unknown, not 0).",
      usage,
      USAGE,
      USAGE_STATES,
    ),
    counter(
      "tollkeeper.maybe_unbilled_tokens",
      "{token}",
      "Tokens that the service may not have billed; in no other count.",
      usage,
      ({ attributes, counts }) =>
        counts.maybe_unbilled === 0 ? [] : [{ attributes, value: counts.maybe_unbilled }],
    ),
    {
      name: "gen_ai.client.operation.duration",
      kind: "histogram",
      unit: "s",
      help: "Time from a request's arrival to the end of its response.",
      points: {
        *[Symbol.iterator]() {
          for (const { attributes, duration } of usage.times) yield { attributes, value: duration.value() };
        },
      },
    },
    {
      name: "gen_ai.client.operation.time_to_first_chunk",
      kind: "histogram",
      unit: "s",
      help: "Time from a request's arrival to the first content of its response; streams only.",
      points: {
        *[Symbol.iterator]() {
          for (const { attributes, firstChunk } of usage.times)
            if (firstChunk.count > 0) yield { attributes, value: firstChunk.value() };
        },
      },
    },
    {
      name: "tollkeeper.unreadable_records",
      kind: "counter",
      unit: "{record}",
      help: "Lines of the ledger that could not be read as records; in no other count.",
      points: [{ attributes: NO_ATTRIBUTES, value: usage.unreadable }],
    },
    {
      name: "tollkeeper.sandbox_requests",
      kind: "counter",
      unit: "{request}",
      help: "Requests that the built-in sandbox responded to; in no other count, because their tokens are made up.",
      points: {
        *[Symbol.iterator]() {
          for (const [tool, value] of usage.sandbox) yield { attributes: { [TOOL]: tool }, value };
        },
      },
    },
  ];
}

/** A counter with the points of each series. */
function counter(
  name: string,
  unit: Metric["unit"],
  help: string,
  usage: UsageMetrics,
  pointsOf: (series: UsageSeries) => readonly Point[],
): Metric {
  const points = {
    *[Symbol.iterator]() {
      for (const series of usage.series) yield* pointsOf(series);
    },
  };
  return { name, kind: "counter", unit, help, points };
}

/** A counter of requests by a state, without those states that no request of a series has had. */
function byState(
  name: string,
  help: string,
  usage: UsageMetrics,
  attribute: string,
  states: readonly (keyof UsageSeries["counts"])[],
): Metric {
  const more = states.map((state) => [state, { [attribute]: state }] as const);
  return counter(name, "{request}", help, usage, ({ attributes, counts }) =>
    more
      .filter(([state]) => counts[state] > 0)
      .map(([state, one]) => ({ attributes, more: one, value: counts[state] })),
  );
}

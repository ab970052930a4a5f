import { GROUPINGS } from "../../../core/ledger/grouping.ts";
import { REPORT_VERSION } from "./document.ts";

const DAY = { type: "string", format: "date" };
const COUNT = { type: "integer", minimum: 0 };
const USD = { type: "string", pattern: String.raw`^\d+(\.\d+)?$`, description: "US dollars, exactly." };
const QUANTILES = {
  type: ["object", "null"],
  properties: { median: { type: "number" }, p95: { type: "number" } },
  required: ["median", "p95"],
  additionalProperties: false,
};
const NAME = { type: ["string", "null"] };

const SUMS = {
  requests: { ...COUNT, description: "Requests that spent tokens, or may have." },
  failed: { ...COUNT, description: "Requests that spent nothing: refused, or answered with an error." },
  input_uncached: COUNT,
  cache_read: COUNT,
  cache_write: COUNT,
  output: { ...COUNT, description: "Reasoning included." },
  reasoning: { type: ["integer", "null"], minimum: 0, description: "null when no response reported it." },
  reasoning_unknown: { ...COUNT, description: "Sets of tokens in the sums that do not report reasoning." },
  partial: { ...COUNT, description: "Requests whose tokens in the sums are a lower bound." },
  absent: { ...COUNT, description: "Requests whose tokens are unknown, and not in the sums." },
  maybe_unbilled: { ...COUNT, description: "Tokens that are billed only in some cases; not in the sums." },
  cut: { ...COUNT, description: "Requests whose response was cut short." },
  refused: { ...COUNT, description: "Those of `failed` that tollkeeper refused." },
  failed_midway: {
    ...COUNT,
    description: "Those of `requests` that failed after the service may have done work.",
  },
  plan_requests: { ...COUNT, description: "Those of `requests` that a plan paid, not a key." },
  extra_requests: {
    ...COUNT,
    description: "Those of `requests` that the service of a plan charges as use beyond it.",
  },
  own_requests: {
    ...COUNT,
    description: "Those of `requests` that a tool paid with a key of its own.",
  },
  retries: { ...COUNT, description: "Further attempts at the same request by fallback." },
  misses: {
    ...COUNT,
    description: "Those of `requests` that are known to have read less from the cache than they could have.",
  },
  miss_tokens: { ...COUNT, description: "Input tokens that these would have read from the cache." },
  cost_usd: {
    ...USD,
    type: ["string", "null"],
    description:
      "Bills, and the price of all that has one. A lower bound unless exact; null if nothing is known.",
  },
  cost_is_exact: { type: "boolean" },
  billed_usd: { ...USD, description: "The part of the cost that services said they charged." },
  extra_cost_usd: { ...USD, description: "The part of the cost of `extra_requests`." },
  plan_worth_usd: {
    ...USD,
    type: ["string", "null"],
    description: "What plans paid, at the prices of a key; in no other sum. Null where no plan paid.",
  },
  plan_worth_is_exact: {
    type: ["boolean", "null"],
    description: "False if the worth is, or may be, more. Null where no plan paid.",
  },
  own_worth_usd: {
    ...USD,
    type: ["string", "null"],
    description:
      "What tools paid with keys of their own, at the prices of a key here; in no other sum. Null where none did.",
  },
  own_worth_is_exact: {
    type: ["boolean", "null"],
    description: "False if that is, or may be, more. Null where no tool paid with a key of its own.",
  },
  cache_saved_usd: {
    type: ["string", "null"],
    pattern: String.raw`^-?\d+(\.\d+)?$`,
    description:
      "Cached input at the price of uncached input, less what it cost. Negative when writing cost more; null without a cost.",
  },
  miss_cost_usd: {
    ...USD,
    type: ["string", "null"],
    description:
      "What `miss_tokens` cost more than if they had been read from the cache. Null unless by miss.",
  },
  miss_plan_worth_usd: {
    ...USD,
    type: ["string", "null"],
    description: "The same of what plans and tools' own keys paid, at the prices of a key; in no other sum.",
  },
  miss_cost_is_exact: { type: ["boolean", "null"], description: "False if the cost is, or may be, more." },
  unpriced: {
    type: "array",
    description: "What has no price, and is not in the cost.",
    items: {
      type: "object",
      properties: {
        model: NAME,
        what: { type: "string", description: "`model`: all of it. Else a class, a tool or a modifier." },
        requests: COUNT,
      },
      required: ["model", "what", "requests"],
      additionalProperties: false,
    },
  },
  ttft_ms: { ...QUANTILES, description: "Milliseconds to the first token of streams." },
  tokens_per_second: { ...QUANTILES, description: "Of streams, after the first token." },
};

/** Returns the JSON Schema of the document of `toDocument`. Fields may be added within a version. */
export function reportSchema(): object {
  const rows = {
    type: "array",
    items: {
      type: "object",
      properties: {
        ...Object.fromEntries([...GROUPINGS, "window"].map((grouping) => [grouping, NAME])),
        ...SUMS,
      },
      required: Object.keys(SUMS),
    },
  };
  const total = { type: "object", properties: SUMS, required: Object.keys(SUMS) };
  const properties = {
    v: { const: REPORT_VERSION },
    by: { type: "array", items: { enum: [...GROUPINGS, "window"] }, minItems: 1, maxItems: 4 },
    since: { type: "string", format: "date-time" },
    until: { type: ["string", "null"], format: "date-time", description: "null: until now." },
    time_zone: { type: "string", description: "IANA name." },
    prices: {
      type: "object",
      properties: { source: { type: "string" }, as_of: DAY },
      required: ["source", "as_of"],
    },
    rows,
    total,
    sandbox: { type: "object", properties: { rows, total }, required: ["rows", "total"] },
    unreadable_lines: COUNT,
    sums_only: {
      type: ["object", "null"],
      description: "The UTC days whose records are deleted, so that their daily sums are all that is left.",
      properties: { first: DAY, last: DAY },
      required: ["first", "last"],
    },
  };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "tollkeeper usage report",
    type: "object",
    properties,
    required: Object.keys(properties),
  };
}

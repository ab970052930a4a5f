import * as fc from "fast-check";
import { AGENT_KINDS } from "../../src/core/identity/agent-facts.ts";
import { RECORD_VERSION, type UsageRecord } from "../../src/core/ledger/record.ts";
import { formatMoney } from "../../src/core/price/money.ts";
import type { ExtraTokens, Flag, Tokens } from "../../src/core/usage/reading.ts";

/** Any UTF-16, including halves of pairs and characters that act on a terminal; sometimes longer than a record keeps. */
const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.string({
    unit: fc.constantFrom("\u0000", "\n", "\u001b", "\u0085", "\u202e", "\u2028", '"', "\\", "a"),
  }),
  fc.nat(600).map((length) => "x".repeat(length)),
  fc.constantFrom("", "__proto__", "toString", "=1+1"),
);
const textOrNull = fc.option(text);

const count = fc.oneof(fc.nat(9), fc.nat(2 ** 31), fc.constant(Number.MAX_SAFE_INTEGER));

const COUNTS = {
  input_uncached: count,
  cache_read: count,
  cache_write: count,
  cache_write_5m: count,
  cache_write_1h: count,
  cache_write_30m: count,
  cache_write_12h: count,
  cache_write_ttl_unknown: count,
  output: count,
};

/** By default fast-check makes some objects without a prototype, which no JSON parser does. */
const PLAIN = { noNullPrototype: true } as const;

const tokens: fc.Arbitrary<Tokens> = fc.record(
  { ...COUNTS, input_total: count, reasoning: fc.option(count), total: count },
  PLAIN,
);

const EXTRA_KEYS = [
  ...(Object.keys(COUNTS) as (keyof typeof COUNTS)[]),
  "type",
  "model",
  "billable",
] as const;

const extra: fc.Arbitrary<ExtraTokens> = fc.record(
  {
    ...COUNTS,
    type: text,
    model: textOrNull,
    billable: fc.constantFrom<true | null>(true, null),
    smallest_prompt: count,
    largest_prompt: count,
    speed: textOrNull,
    inference_geo: textOrNull,
  },
  { ...PLAIN, requiredKeys: [...EXTRA_KEYS] },
);

/** Usage as a provider may send it. A name such as `__proto__` is an own property. */
const rawUsage = fc
  .dictionary(text, fc.json({ maxDepth: 3 }), PLAIN)
  .map((members) =>
    Object.fromEntries(Object.entries(members).map(([name, json]) => [name, JSON.parse(json)])),
  );

const FLAGS = fc.constantFrom<Flag>("bad_json", "total_mismatch", "openai_names");

/** Any record that its type allows. Its fields need not be consistent. */
export const anyRecord: fc.Arbitrary<UsageRecord> = fc.record(
  {
    v: fc.constant(RECORD_VERSION),
    id: fc.uuid(),
    ts: fc
      .date({ min: new Date("2020-01-01"), max: new Date("2029-12-31"), noInvalidDate: true })
      .map((date) => date.toISOString()),
    tool: text,
    tool_by: fc.constantFrom("path", "token", "header", "signature", "process", "library", "unknown"),
    session: textOrNull,
    agent: textOrNull,
    agent_parent: textOrNull,
    agent_kind: fc.option(fc.constantFrom(...AGENT_KINDS)),
    turn: textOrNull,
    user_agent: textOrNull,
    process: fc.option(
      fc.record({ pid: fc.nat(), executable: text, parents: fc.array(text, { maxLength: 3 }) }, PLAIN),
    ),
    project: textOrNull,
    branch: textOrNull,
    key: text,
    upstream: text,
    route: text,
    method: text,
    status: fc.option(fc.integer({ min: 100, max: 599 })),
    model_requested: textOrNull,
    alias: textOrNull,
    stream: fc.option(fc.boolean()),
    outcome: fc.constantFrom("completed", "incomplete", "refused", "cut", "error", "rejected", "queued"),
    stop: textOrNull,
    error_type: textOrNull,
    usage: fc.constantFrom("final", "partial", "absent", "pending", "none"),
    spend: fc.constantFrom("count", "attach_by_response_id", "never"),
    response_id: textOrNull,
    model: textOrNull,
    service_tier: textOrNull,
    speed: textOrNull,
    inference_geo: textOrNull,
    tokens: fc.option(tokens),
    extra: fc.array(extra, { maxLength: 2 }),
    server_tools: fc.dictionary(text, fc.nat(9), { ...PLAIN, maxKeys: 2 }),
    billed_usd: fc.option(fc.bigInt({ min: 0n, max: 10n ** 30n }).map(formatMoney)),
    raw_usage: fc.option(rawUsage),
    output_estimate: fc.option(fc.nat()),
    reserved_input: fc.option(fc.nat()),
    reserved_output: fc.option(fc.nat()),
    reserved_class: fc.option(fc.constantFrom("input_uncached", "cache_write_5m", "cache_write_1h")),
    reserved_tier: fc.option(fc.constantFrom("priority", "priority or scale")),
    reserved_speed: fc.option(fc.constant("fast")),
    reserved_geo: fc.option(fc.constant("us")),
    smallest_prompt: fc.option(count),
    largest_prompt: fc.option(count),
    miss: textOrNull,
    miss_by: fc.option(fc.constantFrom("said", "inferred")),
    miss_tokens: fc.option(count),
    output_file: textOrNull,
    flags: fc.uniqueArray(FLAGS),
    upstream_request_id: textOrNull,
    traceparent: textOrNull,
    attempt_of: textOrNull,
    cut_by: fc.option(fc.constantFrom("client", "upstream", "proxy", "crash")),
    ttft_ms: fc.option(fc.nat(10_000).map((tenths) => tenths / 10)),
    duration_ms: fc.nat(10_000).map((tenths) => tenths / 10),
    bytes_in: count,
    bytes_out: count,
  },
  PLAIN,
);

import { RECORD_VERSION, type UsageRecord } from "../../../src/core/ledger/record.ts";
import type { BatchTerms, ExtraTokens, Tokens } from "../../../src/core/usage/reading.ts";

let count = 0;

/** Returns a complete record of a successful request, in the recorder's order, with an id of its own and with `changes`. */
export function usageRecord(changes: Partial<UsageRecord> = {}): UsageRecord {
  count += 1;
  return {
    v: RECORD_VERSION,
    id: `record-${count}`,
    ts: "2026-11-21T12:00:00.000Z",
    tool: "codex",
    tool_by: "path",
    session: "session-1",
    agent: null,
    agent_parent: null,
    agent_kind: null,
    turn: null,
    user_agent: "codex_cli_rs/0.151.0",
    process: null,
    project: null,
    branch: null,
    key: "default",
    upstream: "default",
    route: "/responses",
    method: "POST",
    status: 200,
    model_requested: "gpt-5",
    alias: null,
    stream: true,
    outcome: "completed",
    stop: null,
    error_type: null,
    usage: "final",
    spend: "count",
    response_id: `resp_${count}`,
    model: "gpt-5",
    service_tier: null,
    speed: null,
    inference_geo: null,
    tokens: tokens({ input_uncached: 10, output: 5 }),
    extra: [],
    server_tools: {},
    billed_usd: null,
    raw_usage: null,
    flags: [],
    output_estimate: null,
    reserved_input: null,
    reserved_output: null,
    reserved_class: null,
    reserved_tier: null,
    reserved_speed: null,
    reserved_geo: null,
    smallest_prompt: null,
    largest_prompt: null,
    miss: null,
    miss_by: null,
    miss_tokens: null,
    output_file: null,
    attempt_of: null,
    upstream_request_id: null,
    traceparent: null,
    cut_by: null,
    ttft_ms: 200.5,
    duration_ms: 900,
    bytes_in: 1000,
    bytes_out: 2000,
    ...changes,
  };
}

type Counts = Pick<Tokens, "input_uncached" | "cache_read" | "cache_write" | "output">;

/** Returns consistent token counts; reasoning is 0 by default. */
export function tokens(given: Partial<Counts & { reasoning: number | null }>): Tokens {
  const set = counts(given);
  const input_total = set.input_uncached + set.cache_read + set.cache_write;
  const { reasoning = 0 } = given;
  return { ...set, input_total, reasoning, total: input_total + set.output };
}

/** Returns an additional set of token counts, as a record has them in `extra`. */
export function extraTokens(
  given: Partial<Counts & BatchTerms> & Pick<ExtraTokens, "type" | "model" | "billable">,
): ExtraTokens {
  const {
    type,
    model,
    billable,
    input_uncached: _,
    cache_read: __,
    cache_write: ___,
    output: ____,
    ...terms
  } = given;
  return {
    type,
    model,
    billable,
    ...counts(given),
    ...terms,
  };
}

function counts(given: Partial<Counts>) {
  const { input_uncached = 0, cache_read = 0, cache_write = 0, output = 0 } = given;
  return {
    input_uncached,
    cache_read,
    cache_write,
    cache_write_5m: cache_write,
    cache_write_1h: 0,
    cache_write_30m: 0,
    cache_write_12h: 0,
    cache_write_ttl_unknown: 0,
    output,
  };
}

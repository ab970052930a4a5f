import type { Tokens } from "../usage/reading.ts";
import type { UsageRecord } from "./record.ts";

/**
 * Returns a record as JSON, for a line of the ledger. Members that are null or empty are left out, and of the cache writes the
 * lifetimes that have none: about half of the bytes. The others are in the order of {@link UsageRecord}.
 */
export function formatRecord(record: UsageRecord): string {
  // `JSON.stringify` leaves out what is undefined. Listed one by one, as in the recorder: any other copy costs 2 µs more.
  return JSON.stringify({
    v: record.v,
    id: record.id,
    ts: record.ts,
    tool: record.tool,
    tool_by: record.tool_by,
    session: record.session ?? undefined,
    agent: record.agent ?? undefined,
    agent_parent: record.agent_parent ?? undefined,
    agent_kind: record.agent_kind ?? undefined,
    turn: record.turn ?? undefined,
    user_agent: record.user_agent ?? undefined,
    process: record.process ?? undefined,
    project: record.project ?? undefined,
    branch: record.branch ?? undefined,
    key: record.key,
    upstream: record.upstream,
    route: record.route,
    method: record.method,
    status: record.status ?? undefined,
    model_requested: record.model_requested ?? undefined,
    alias: record.alias ?? undefined,
    stream: record.stream ?? undefined,
    outcome: record.outcome,
    stop: record.stop ?? undefined,
    error_type: record.error_type ?? undefined,
    usage: record.usage,
    spend: record.spend,
    response_id: record.response_id ?? undefined,
    model: record.model ?? undefined,
    service_tier: record.service_tier ?? undefined,
    speed: record.speed ?? undefined,
    inference_geo: record.inference_geo ?? undefined,
    tokens: record.tokens === null ? undefined : shorten(record.tokens),
    extra: record.extra.length === 0 ? undefined : record.extra,
    server_tools: isEmpty(record.server_tools) ? undefined : record.server_tools,
    billed_usd: record.billed_usd ?? undefined,
    raw_usage: record.raw_usage ?? undefined,
    flags: record.flags.length === 0 ? undefined : record.flags,
    output_estimate: record.output_estimate ?? undefined,
    reserved_input: record.reserved_input ?? undefined,
    reserved_output: record.reserved_output ?? undefined,
    reserved_class: record.reserved_class ?? undefined,
    reserved_tier: record.reserved_tier ?? undefined,
    reserved_speed: record.reserved_speed ?? undefined,
    reserved_geo: record.reserved_geo ?? undefined,
    smallest_prompt: record.smallest_prompt ?? undefined,
    largest_prompt: record.largest_prompt ?? undefined,
    miss: record.miss ?? undefined,
    miss_by: record.miss_by ?? undefined,
    miss_tokens: record.miss_tokens ?? undefined,
    output_file: record.output_file ?? undefined,
    attempt_of: record.attempt_of ?? undefined,
    upstream_request_id: record.upstream_request_id ?? undefined,
    traceparent: record.traceparent ?? undefined,
    cut_by: record.cut_by ?? undefined,
    ttft_ms: record.ttft_ms ?? undefined,
    duration_ms: record.duration_ms,
    bytes_in: record.bytes_in,
    bytes_out: record.bytes_out,
  } satisfies Record<keyof UsageRecord, unknown>);
}

function shorten(tokens: Tokens): object {
  return {
    input_uncached: tokens.input_uncached,
    cache_read: tokens.cache_read,
    cache_write: tokens.cache_write,
    cache_write_5m: tokens.cache_write_5m || undefined,
    cache_write_1h: tokens.cache_write_1h || undefined,
    cache_write_30m: tokens.cache_write_30m || undefined,
    cache_write_12h: tokens.cache_write_12h || undefined,
    cache_write_ttl_unknown: tokens.cache_write_ttl_unknown || undefined,
    output: tokens.output,
    input_total: tokens.input_total,
    reasoning: tokens.reasoning ?? undefined,
    total: tokens.total,
  } satisfies Record<keyof Tokens, unknown>;
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

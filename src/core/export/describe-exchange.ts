import { tokensOfModel } from "../usage/batch/model-tokens.ts";
import type { UsageRecord } from "../ledger/record.ts";
import {
  describeKind,
  ERROR_TYPE,
  errorTypeOf,
  kindOf,
  OUTCOME,
  REQUEST_MODEL,
  RESPONSE_MODEL,
  TOOL,
  UPSTREAM,
  USAGE,
} from "../metrics/exchange-attributes.ts";
import type { AttributeValue, ExportedExchange } from "./exported-exchange.ts";
import { placeSpan } from "./trace-context.ts";

/** The attribute by which receivers recognize a record that was sent twice. */
const RECORD_ID = "tollkeeper.record.id";

/**
 * Returns a record as it leaves. Names of attributes are those of OpenTelemetry's conventions for generative AI
 * (https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md), and `tollkeeper.*` for what they
 * have no name for. Every attribute is listed here: what a record has besides, such as its user agent, its process and its directory,
 * stays on this machine (SECURITY.md G1).
 */
export function describeExchange(record: UsageRecord): ExportedExchange {
  const startedAt = Date.parse(record.ts);
  const kind = kindOf(record);
  const error = errorTypeOf(record);
  return {
    operation: kind.operation,
    model: record.model_requested,
    startedAt,
    endedAt: startedAt + record.duration_ms,
    isError: error !== null,
    place: placeSpan(record.id, record.traceparent),
    attributes: withoutUnknown({
      [RECORD_ID]: record.id,
      ...describeKind(kind),
      [REQUEST_MODEL]: record.model_requested,
      [RESPONSE_MODEL]: record.model,
      "gen_ai.response.id": record.response_id,
      "gen_ai.response.finish_reasons": record.stop === null ? null : [record.stop],
      "gen_ai.request.stream": record.stream,
      "gen_ai.response.time_to_first_chunk":
        record.stream === true && record.ttft_ms !== null ? record.ttft_ms / 1000 : null,
      "gen_ai.conversation.id": record.session,
      "gen_ai.agent.id": record.agent,
      "tollkeeper.agent_parent": record.agent_parent,
      "tollkeeper.agent_kind": record.agent_kind,
      "tollkeeper.turn": record.turn,
      ...describeTokens(tokensOfModel(record)),
      [ERROR_TYPE]: error,
      "http.request.method": record.method,
      "http.response.status_code": record.status,
      [TOOL]: record.tool,
      "tollkeeper.tool_by": record.tool_by,
      [UPSTREAM]: record.upstream,
      "tollkeeper.key": record.key,
      "tollkeeper.route": record.route,
      [OUTCOME]: record.outcome,
      "tollkeeper.cut_by": record.cut_by,
      "tollkeeper.error": record.error_type,
      [USAGE]: record.usage,
      "tollkeeper.spend": record.spend,
      "tollkeeper.alias": record.alias,
      "tollkeeper.attempt_of": record.attempt_of,
      "tollkeeper.service_tier": record.service_tier,
      "tollkeeper.billed_usd": record.billed_usd,
      "tollkeeper.upstream_request_id": record.upstream_request_id,
      "tollkeeper.flags": record.flags.length === 0 ? null : record.flags,
      "tollkeeper.duration_ms": record.duration_ms,
      "tollkeeper.bytes_in": record.bytes_in,
      "tollkeeper.bytes_out": record.bytes_out,
    }),
  };
}

/** Inclusive, as the conventions want them: cache reads and writes are in the input, reasoning is in the output. */
function describeTokens(tokens: ReturnType<typeof tokensOfModel>): Record<string, number | null> {
  if (tokens === null) return {};
  return {
    "gen_ai.usage.input_tokens": tokens.input_total,
    "gen_ai.usage.output_tokens": tokens.output,
    "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
    "gen_ai.usage.cache_write.input_tokens": tokens.cache_write,
    "gen_ai.usage.reasoning.output_tokens": tokens.reasoning,
  };
}

function withoutUnknown(given: Record<string, AttributeValue | null>): Record<string, AttributeValue> {
  const known = Object.entries(given).filter(([, value]) => value !== null);
  return Object.fromEntries(known) as Record<string, AttributeValue>;
}

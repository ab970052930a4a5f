import type { Tokens } from "../../usage/reading.ts";
import type { UsageRecord } from "../record.ts";

/** A column of the export as CSV. `of` returns what a record has there; null for an empty cell. */
interface Column {
  name: string;
  of(record: UsageRecord): string | number | boolean | null | object;
}

type Plain = Exclude<keyof UsageRecord, "process" | "tokens" | "raw_usage">;

const field = (name: Plain): Column => ({ name, of: (record) => record[name] });
const tokensOf = (name: keyof Tokens): Column => ({ name, of: ({ tokens }) => tokens?.[name] ?? null });

/**
 * In the order of docs/ledger.md, which is part of the interface: new columns come last. There is no `raw_usage`, which is larger than a
 * cell of a spreadsheet may be.
 */
const COLUMNS: readonly Column[] = [
  ...(["v", "id", "ts", "tool", "tool_by", "session", "user_agent"] as const).map(field),
  { name: "process_pid", of: ({ process }) => process?.pid ?? null },
  { name: "process_executable", of: ({ process }) => process?.executable ?? null },
  { name: "process_parents", of: ({ process }) => process?.parents ?? null },
  ...(["project", "branch", "key", "upstream", "route", "method", "status"] as const).map(field),
  ...(
    ["model_requested", "alias", "model", "stream", "outcome", "cut_by", "stop", "error_type"] as const
  ).map(field),
  ...(["usage", "spend"] as const).map(field),
  ...(["input_uncached", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h"] as const).map(
    tokensOf,
  ),
  ...(["cache_write_30m", "cache_write_12h", "cache_write_ttl_unknown"] as const).map(tokensOf),
  ...(["input_total", "output", "reasoning", "total"] as const).map(tokensOf),
  ...(["extra", "server_tools", "billed_usd", "service_tier", "speed", "inference_geo"] as const).map(field),
  ...(["response_id", "upstream_request_id", "attempt_of", "flags"] as const).map(field),
  ...(["ttft_ms", "duration_ms", "bytes_in", "bytes_out", "traceparent", "output_estimate"] as const).map(
    field,
  ),
];

/** The names of the columns. */
export const CSV_HEADER: readonly string[] = COLUMNS.map(({ name }) => name);

/** Returns a record's cells, not yet escaped. What is unknown is empty; lists and objects are JSON. */
export function csvCells(record: UsageRecord): string[] {
  return COLUMNS.map(({ of }) => {
    const value = of(record) ?? "";
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  });
}

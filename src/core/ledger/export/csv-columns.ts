import type { Tokens } from "../../usage/reading.ts";
import { CACHE_WRITE_LIFETIMES, RECORD_FIELD_LIST, type UsageRecord } from "../record.ts";

/** A column of the export as CSV. `of` returns what a record has there; null for an empty cell. */
interface Column {
  name: string;
  of(record: UsageRecord): string | number | boolean | null | object;
}

/** In this order since the first release: the columns are part of the interface, so those of other fields come after them. */
const FIRST: readonly (keyof UsageRecord)[] = [
  ...(["v", "id", "ts", "tool", "tool_by", "session", "user_agent", "process"] as const),
  ...(["project", "branch", "key", "upstream", "route", "method", "status"] as const),
  ...(["model_requested", "alias", "model", "stream", "outcome", "cut_by", "stop", "error_type"] as const),
  ...(["usage", "spend", "tokens", "extra", "server_tools", "billed_usd"] as const),
  ...(["service_tier", "speed", "inference_geo"] as const),
  ...(["response_id", "upstream_request_id", "attempt_of", "flags"] as const),
  ...(["ttft_ms", "duration_ms", "bytes_in", "bytes_out", "traceparent", "output_estimate"] as const),
];

const TOKENS: readonly (keyof Tokens)[] = [
  ...(["input_uncached", "cache_read", "cache_write"] as const),
  ...CACHE_WRITE_LIFETIMES,
  ...(["input_total", "output", "reasoning", "total"] as const),
];

/** All fields but `raw_usage`, which is larger than a cell of a spreadsheet may be. */
const COLUMNS: readonly Column[] = [
  ...FIRST,
  ...RECORD_FIELD_LIST.map(({ name }) => name).filter((name) => !FIRST.includes(name)),
].flatMap(columnsOf);

function columnsOf(name: keyof UsageRecord): Column[] {
  if (name === "raw_usage") return [];
  if (name === "tokens")
    return TOKENS.map((count) => ({ name: count, of: ({ tokens }) => tokens?.[count] ?? null }));
  if (name !== "process") return [{ name, of: (record) => record[name] }];
  return [
    { name: "process_pid", of: ({ process }) => process?.pid ?? null },
    { name: "process_executable", of: ({ process }) => process?.executable ?? null },
    { name: "process_parents", of: ({ process }) => process?.parents ?? null },
  ];
}

/** The names of the columns. */
export const CSV_HEADER: readonly string[] = COLUMNS.map(({ name }) => name);

/** Returns a record's cells, not yet escaped. What is unknown is empty; lists and objects are JSON. */
export function csvCells(record: UsageRecord): string[] {
  return COLUMNS.map(({ of }) => {
    const value = of(record) ?? "";
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  });
}

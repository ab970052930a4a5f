import type { PricedRecord } from "../../price/cost.ts";
import { createReading } from "../../usage/usage-format.ts";
import type { MeterReading } from "../../usage/reading.ts";

/** The tools whose own logs can be imported. */
export const SOURCES = ["claude-code", "codex"] as const;
export type Source = (typeof SOURCES)[number];

/** What a log says of the usage of a response, read as a meter would read it. */
type ImportedReading = Pick<
  MeterReading,
  | "usage"
  | "model"
  | "service_tier"
  | "speed"
  | "inference_geo"
  | "tokens"
  | "extra"
  | "server_tools"
  | "flags"
> &
  Pick<MeterReading, "stop" | "response_id" | "raw_usage">;

/**
 * One response, as a tool's own log has it: tollkeeper did not measure it. The names are those of a record of the ledger, which has more, and
 * has no `source`. `usage` is `partial` where the log may have an early count of a stream. No prompt, no output, no file content.
 */
export interface ImportedRecord extends ImportedReading {
  /** Version of this format. */
  v: 1;
  source: Source;
  /** The source, and what names the response in its log. The same in each import. */
  id: string;
  /** When the log's line was written; ISO 8601, UTC, milliseconds. */
  ts: string;
  tool: Source;
  session: string | null;
  project: string | null;
  branch: string | null;
  upstream_request_id: string | null;
}

/** Where a response was found. */
type Origin = Pick<
  ImportedRecord,
  "source" | "ts" | "session" | "project" | "branch" | "upstream_request_id"
>;

/** Returns a record for a response that has this key in its log. */
export function importedRecord(origin: Origin, key: string, reading: MeterReading): ImportedRecord {
  const { source } = origin;
  return {
    v: 1,
    source,
    id: `${source}:${key}`,
    ts: origin.ts,
    tool: source,
    session: origin.session,
    project: origin.project,
    branch: origin.branch,
    model: reading.model,
    usage: reading.usage,
    tokens: reading.tokens,
    extra: reading.extra,
    server_tools: reading.server_tools,
    service_tier: reading.service_tier,
    speed: reading.speed,
    inference_geo: reading.inference_geo,
    stop: reading.stop,
    response_id: reading.response_id,
    upstream_request_id: origin.upstream_request_id,
    flags: reading.flags,
    // Only these say what the counts do not: each of them has a price of its own.
    raw_usage: hasIterations(reading.raw_usage) ? reading.raw_usage : null,
  };
}

function hasIterations(usage: MeterReading["raw_usage"]): boolean {
  const iterations = usage?.["iterations"];
  return Array.isArray(iterations) && iterations.length > 0;
}

/** Returns what decides the cost of an imported response. Its upstream is not known, so it costs what its maker charges. */
export function toPriced(record: ImportedRecord): PricedRecord {
  const route = record.source === "codex" ? "/responses" : "/messages";
  return {
    ...createReading("completed", record.usage),
    ...record,
    spend: "count",
    upstream: "",
    route,
    method: "POST",
    status: null,
    model_requested: record.model,
    alias: null,
  };
}

/** Returns the one of two records of the same response that says more: services count up while they stream. */
export function fuller(one: ImportedRecord, other: ImportedRecord): ImportedRecord {
  if (one.usage !== other.usage) return one.usage === "final" ? one : other;
  return (other.tokens?.total ?? 0) > (one.tokens?.total ?? 0) ? other : one;
}

/** Returns a time as records have it; null for what is none. */
export function readTime(value: unknown): string | null {
  const time = typeof value === "string" ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

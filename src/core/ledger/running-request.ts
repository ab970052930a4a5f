import type { UsageRecord } from "./record.ts";

/** What a record says while its request runs: it has no outcome yet. */
const FIELDS = [
  "id",
  "ts",
  "tool",
  "session",
  "agent_kind",
  "project",
  "branch",
  "key",
  "upstream",
  "method",
  "route",
  "status",
  "model",
  "model_requested",
  "stream",
  "tokens",
  "ttft_ms",
  "duration_ms",
  "bytes_in",
  "bytes_out",
] as const satisfies readonly (keyof UsageRecord)[];

/** A request under way: what its record would say by now. Tokens are those that the service has reported so far. */
export type RunningRequest = Pick<UsageRecord, (typeof FIELDS)[number]>;

/** Takes from the record that a request would leave now what is true while it runs. */
export function describeRunning(record: UsageRecord): RunningRequest {
  return Object.fromEntries(FIELDS.map((field) => [field, record[field]])) as RunningRequest;
}

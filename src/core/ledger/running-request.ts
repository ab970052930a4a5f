import type { UsageRecord } from "./record.ts";

/** A request under way: what its record would say by now. Tokens are those that the service has reported so far. */
export type RunningRequest = Pick<
  UsageRecord,
  | "id"
  | "ts"
  | "tool"
  | "session"
  | "project"
  | "key"
  | "upstream"
  | "method"
  | "route"
  | "status"
  | "model"
  | "model_requested"
  | "stream"
  | "tokens"
  | "ttft_ms"
  | "duration_ms"
  | "bytes_in"
  | "bytes_out"
>;

/** Takes from the record that a request would leave now what is true while it runs: it has no outcome yet. */
export function describeRunning(record: UsageRecord): RunningRequest {
  const { id, ts, tool, session, project, key, upstream, method, route, status, model } = record;
  const { model_requested, stream, tokens, ttft_ms, duration_ms, bytes_in, bytes_out } = record;
  return {
    id,
    ts,
    tool,
    session,
    project,
    key,
    upstream,
    method,
    route,
    status,
    model,
    model_requested,
    stream,
    tokens,
    ttft_ms,
    duration_ms,
    bytes_in,
    bytes_out,
  };
}

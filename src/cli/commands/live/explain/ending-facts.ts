import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { CUTTERS } from "../../../../core/ledger/explain/record-words.ts";
import { tokensPerSecond } from "../../../../core/ledger/times/tokens-per-second.ts";
import { isOfUpstream } from "../../../../core/refusals/of-upstream.ts";
import type { Outcome } from "../../../../core/usage/reading.ts";
import type { Fact } from "../../../terminal/facts.ts";
import { formatNumber } from "../../../terminal/format.ts";
import { formatBytes } from "../request-row.ts";
import { formatDuration } from "./duration.ts";

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  completed: "it completed",
  incomplete: "the model stopped before it was done",
  refused: "the model declined",
  paused: "the model paused its turn",
  error: "the service responded with an error",
  failed: "the response failed",
  cancelled: "it was cancelled",
  queued: "it was queued, to run in the background",
  in_progress: "it was still running in the background",
  cut: "the response was cut off",
  rejected: "tollkeeper refused it",
};

/** Returns how a request ended, in words. */
export function describeOutcome({ outcome, cut_by: by, error_type: type }: UsageRecord): string {
  if (outcome === "rejected" && isOfUpstream(type)) return "no response came";
  return outcome === "cut" && by !== null ? `${CUTTERS[by]} cut the response off` : OUTCOMES[outcome];
}

/** Says with what status a request ended, and how long it took. */
export function endingFacts(record: UsageRecord): Fact[] {
  const { upstream_request_id: upstreamId, bytes_in: sent, bytes_out: received } = record;
  const facts: (Fact | false)[] = [
    ["status", describeStatus(record)],
    ["took", describeTimes(record)],
    ["size", `${formatBytes(sent)} from the tool, ${formatBytes(received)} to it`],
    ["id", record.id],
    upstreamId !== null && ["", `${upstreamId} at the service, whose support asks for it`],
  ];
  return facts.filter((fact) => fact !== false);
}

/** The first line of the page says the outcome, and what error it was. */
function describeStatus({ status, stop }: UsageRecord): string {
  const code = status === null ? "none" : String(status);
  return stop === null ? code : `${code}, stop reason ${stop}`;
}

function describeTimes(record: UsageRecord): string {
  const { stream, ttft_ms: first, duration_ms: whole } = record;
  const parts = [formatDuration(whole)];
  if (first !== null)
    parts.push(`the first ${stream === true ? "token" : "byte"} after ${formatDuration(first)}`);
  const speed = tokensPerSecond(record);
  if (speed !== null) parts.push(`then ${formatNumber(Math.round(speed * 10) / 10)} tokens per second`);
  return parts.join(", ");
}

import type { Outcome } from "../../../../core/usage/reading.ts";
import { CUTTERS } from "../../../../core/ledger/explain/record-words.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { isOfUpstream } from "../../../../core/refusals/of-upstream.ts";

/** Outcomes whose name alone would not be understood. */
const OUTCOMES: Partial<Record<Outcome, string>> = {
  incomplete: "stopped early",
  refused: "declined by the model",
  in_progress: "in the background",
  queued: "in the background",
};

/** Says in few words how a request ended: `completed`, `refused: budget spent`, `overloaded (529)`, `cut short by the tool`. */
export function describeEnd({ outcome, status, error_type: type, cut_by: by }: UsageRecord): string {
  const detail = wordsOf(type ?? "");
  if (outcome === "rejected") return `${isOfUpstream(type) ? "no response" : "refused"}: ${detail}`;
  if (outcome === "cut") return `cut short by ${by === null ? "the connection" : CUTTERS[by]}`;
  const number = status === null || status < 400 ? "" : ` (${status})`;
  if (outcome === "error" || (outcome === "failed" && number !== "")) return `${detail || outcome}${number}`;
  return `${OUTCOMES[outcome] ?? outcome}${number}${detail === "" ? "" : `: ${detail}`}`;
}

/** `overloaded_error` as `overloaded`. */
export function wordsOf(code: string): string {
  return code.replace(/_?error$/, "").replaceAll("_", " ");
}

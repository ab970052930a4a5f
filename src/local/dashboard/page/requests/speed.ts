import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { formatCount } from "../numbers.ts";

/** Shorter than that, what came is what had been buffered. */
const LEAST_MS = 50;

/** Tokens a second from the first token on; null where that cannot be said. */
export function speedOf({ tokens, ttft_ms: ttft, duration_ms: took }: UsageRecord): number | null {
  if (tokens === null || tokens.output === 0 || ttft === null || took - ttft < LEAST_MS) return null;
  return (1_000 * tokens.output) / (took - ttft);
}

/** Tokens a second; empty where that cannot be said. */
export function formatSpeed(speed: number | null): string {
  return speed === null ? "" : formatCount(Math.round(speed));
}

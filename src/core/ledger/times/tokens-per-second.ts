import type { SummableRecord } from "../record.ts";

/** Of fewer tokens, or of what came within a shorter time, a speed says how it was buffered. */
const [LEAST_TOKENS, LEAST_MS] = [20, 1_000];

/** Returns the output tokens per second after the first one, of a stream with exact usage; null where that cannot be said. */
export function tokensPerSecond({
  stream,
  ttft_ms: first,
  duration_ms: whole,
  usage,
  tokens,
}: Pick<SummableRecord, "stream" | "ttft_ms" | "duration_ms" | "usage" | "tokens">): number | null {
  if (stream !== true || usage !== "final" || tokens === null || first === null) return null;
  const tookMs = whole - first;
  return tokens.output < LEAST_TOKENS || tookMs < LEAST_MS ? null : ((tokens.output - 1) * 1000) / tookMs;
}

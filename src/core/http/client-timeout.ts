import type { HeaderIndex } from "./header-index.ts";

/** In which the SDKs of OpenAI and Anthropic say how long they wait, in seconds (docs/wire.md section 1). */
const TIMEOUT_HEADER = "x-stainless-timeout";

/** What every request says that leaves it to the SDK: no reason to wait longer than the configuration wants. */
const DEFAULT_MS = 600_000;

/** The most that a client can ask for: longer than any model thinks, and a request that hangs ends some time. */
const MOST_MS = 3_600_000;

/** Returns the limit for the first byte of a response, in milliseconds: the configured one, or what the client asks for if that is longer. */
export function firstByteLimitMs(configuredMs: number, headers: HeaderIndex): number {
  const text = headers.get(TIMEOUT_HEADER);
  if (text === undefined || !/^\d{1,9}$/.test(text)) return configuredMs;
  const askedMs = Math.min(Number(text) * 1_000, MOST_MS);
  return askedMs > DEFAULT_MS ? Math.max(configuredMs, askedMs) : configuredMs;
}

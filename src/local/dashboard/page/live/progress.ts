import type { RunningRequest } from "../../../../core/ledger/running-request.ts";
import { formatBytes, formatCount } from "../numbers.ts";

/** What was seen of a request. */
interface Seen {
  bytes: number;
  /** When a piece of the response was last seen to come, in milliseconds since 1970. */
  movedAt: number;
  /** The first count of its output; null before there was one. */
  firstOutput: number | null;
}

/** What comes of running requests while the page looks. The feed has counts only: a piece came where there are more bytes. */
export class Progress {
  readonly #seen = new Map<string, Seen>();

  /** Looks at the requests that run, and forgets the others. */
  look(requests: readonly RunningRequest[], now: number): void {
    const before = new Map(this.#seen);
    this.#seen.clear();
    for (const { id, bytes_out: bytes, tokens } of requests) {
      const known = before.get(id);
      const movedAt = known?.bytes === bytes ? known.movedAt : now;
      this.#seen.set(id, { bytes, movedAt, firstOutput: known?.firstOutput ?? tokens?.output ?? null });
    }
  }

  /** For how many milliseconds nothing came, as far as the page has seen. */
  quietFor({ id }: RunningRequest, now: number): number {
    return now - (this.#seen.get(id)?.movedAt ?? now);
  }

  /** What came so far: tokens if the service counts them as it goes, and else bytes. Many services count only once at the start. */
  soFar({ id, tokens, bytes_out: bytes }: RunningRequest): string {
    const first = this.#seen.get(id)?.firstOutput ?? null;
    if (tokens !== null && first !== null && tokens.output > first) return `≥${formatCount(tokens.output)}`;
    return bytes === 0 ? "" : formatBytes(bytes);
  }
}

/** Pieces may come some seconds apart. */
const QUIET_MS = 3_000;

/** Says that a stream goes on, or for how long nothing of it came. */
export function describeStream(quietMs: number): string {
  return quietMs < QUIET_MS ? "streaming" : `quiet for ${formatAge(quietMs)}`;
}

/** A request that waits longer for its first token, or for the next one, stands out. */
export const LONG_WAIT_MS = 30_000;

/** How a stream stands out of which nothing came for so many milliseconds. */
export function toneOfStream(quietMs: number): "streaming" | "warning" | "" {
  if (quietMs < QUIET_MS) return "streaming";
  return quietMs >= LONG_WAIT_MS ? "warning" : "";
}

/** From there on, seconds say nothing. */
const LONG_MINUTES = 10;

/** How long something lasts, in whole seconds: tenths would only flicker. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < LONG_MINUTES) return `${minutes} min ${seconds % 60} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

import type { Refusal } from "../../core/refusals/refusal.ts";

/** Keeps for `status` why round trips to each upstream failed: a record has only the code. */
export class FailureReasons {
  /** The newest message by upstream and code: a request that fails for a reason of its own leaves those of the others. */
  readonly #newest = new Map<string, string>();

  /** Keeps the message of a refusal that ended a round trip to this upstream. */
  keep(upstream: string, { code, problem, reason, advice }: Refusal): void {
    // Whoever shows it names the upstream, which is what a problem of one says besides.
    const words = [reason ?? problem, advice].filter((part) => part !== undefined).join("; ");
    this.#newest.set(keyOf(upstream, code), words);
  }

  /** Returns the newest message with this code; null when there is none. */
  find(upstream: string, code: string | null): string | null {
    return this.#newest.get(keyOf(upstream, code)) ?? null;
  }
}

/** The name of an upstream contains no space. */
function keyOf(upstream: string, code: string | null): string {
  return `${upstream} ${code}`;
}

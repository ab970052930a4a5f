import type { Refusal, RefusalCode } from "../../core/http/refusal.ts";

/** Keeps for `status` why the newest round trip to each upstream failed: a record has only the code. */
export class FailureReasons {
  readonly #newest = new Map<string, { code: RefusalCode; words: string }>();

  /** Keeps the message of a refusal that ended a round trip to this upstream. */
  keep(upstream: string, { code, problem, details }: Refusal): void {
    this.#newest.set(upstream, { code, words: details === undefined ? problem : `${problem}: ${details}` });
  }

  /** Returns the kept message if it has this code. */
  find(upstream: string, code: string | null): string | null {
    const reason = this.#newest.get(upstream);
    return reason !== undefined && reason.code === code ? reason.words : null;
  }
}

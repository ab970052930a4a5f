import type { Choice } from "../../core/decide/choose-upstream.ts";
import type { Attempts } from "./attempts.ts";

/**
 * A round trip as one of several attempts. Where its upstream has done nothing with the request, it offers its client to the next
 * attempt, and is answered: it keeps the client, or leaves it.
 */
export class Offer {
  /** Resolves with what became of the request, as in the header of attempts, once the client is on offer; with null if it never is. */
  readonly made: Promise<string | null>;
  readonly #attempts: Attempts;
  readonly #choice: Choice;
  #tell: (result: string | null) => void = ignore;
  #isTaken = false;

  constructor(attempts: Attempts, choice: Choice) {
    this.#attempts = attempts;
    this.#choice = choice;
    this.made = new Promise((resolve) => (this.#tell = resolve));
  }

  /** True once the next attempt has the client. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** True while another attempt may follow one whose request was not sent. */
  get mayBeMade(): boolean {
    return this.#attempts.hasNext;
  }

  /** Notes how the upstream responded. Returns what to offer; null for a response that no other attempt may follow. */
  responded(status: number): string | null {
    this.#attempts.answered(this.#choice, status);
    return this.#attempts.mayFollow(status) ? `status=${status}` : null;
  }

  /** Notes that the upstream is broken. */
  failed(): void {
    this.#attempts.failed(this.#choice);
  }

  /** Offers the client. `result` as in the header of attempts: `status=429`, `error=upstream_unreachable`. */
  make(result: string): void {
    this.#tell(result);
  }

  /** The next attempt has the client. */
  take(): void {
    this.#isTaken = true;
  }

  /** No other attempt needs the body. */
  dropBody(): void {
    if (!this.#isTaken) this.#attempts.body.drop();
  }

  /** The round trip has ended. */
  close(): void {
    this.dropBody();
    this.#tell(null);
  }

  /** The header of the response that the client gets; null if no other upstream was passed over. */
  describe(result: string): string | null {
    return this.#attempts.describe(this.#choice, result);
  }
}

function ignore(): void {}

import { createdIn, type Creator } from "../../core/decide/creator.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import type { Clock, Ledger } from "../../ports.ts";

/** How often the exchanges under way are checked. */
const LOOK_MS = 100;
/** Notes that one check renews. The rest waits for the next check, so that no response waits for a thousand, at 20 µs each. */
const MOST_RENEWALS = 100;
/** Pause after a note that could not be written. */
const RETRY_MS = 1000;

/** An exchange as the list of running ones sees it. */
interface RunningExchange {
  /** Its position in the list, kept by the list. */
  position: number;
  readonly tool: string;
  /** True when it is time for a note at `tick`, by the monotonic clock. */
  isNoteDue(tick: number): boolean;
  readonly isNoted: boolean;
  /** The record that it would leave now. */
  soFar(): UsageRecord;
  /** Called when the ledger has noted what `soFar` returned. */
  onNoted(): void;
  /** Ends it now and records it, which removes it from the list. */
  abort(): void;
}

/**
 * The exchanges under way: each is in it until it is recorded. Those that last are noted in the ledger, so that a crash does
 * not hide them (SECURITY.md E7), together, because a file for each would cost 250 µs; one timer serves all, and short exchanges never meet
 * it. A list, because a Set whose
 * entries come and go with each request keeps finished requests alive until the next full garbage collection; see
 * `Connections`.
 */
export class RunningExchanges {
  readonly #clock: Clock;
  readonly #ledger: Pick<Ledger, "note">;
  readonly #running: RunningExchange[] = [];
  #onEmpty: (() => void) | null = null;
  /** Runs while exchanges do. */
  #timer: NodeJS.Timeout | null = null;
  #nextNoteAt = -Infinity;

  constructor(clock: Clock, ledger: Pick<Ledger, "note">) {
    this.#clock = clock;
    this.#ledger = ledger;
  }

  get size(): number {
    return this.#running.length;
  }

  add(exchange: RunningExchange): void {
    exchange.position = this.#running.push(exchange) - 1;
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** The last one in the list takes the place of the removed one. */
  remove(exchange: RunningExchange): void {
    const last = this.#running.pop();
    if (last !== undefined && last !== exchange) {
      this.#running[exchange.position] = last;
      last.position = exchange.position;
    }
    if (this.#running.length === 0) this.#onEmpty?.();
  }

  /** Returns the records that the newest of them would leave now, at most so many. */
  soFar(atMost: number): UsageRecord[] {
    return this.#running.slice(-atMost).map((exchange) => exchange.soFar());
  }

  /** Returns who is creating the stored object of an id now; null if none of them is. Looks at all of them. */
  findCreator(id: string): Creator | null {
    for (const exchange of this.#running) {
      const record = exchange.soFar();
      if (record.response_id === id) return createdIn(record)?.creator ?? null;
    }
    return null;
  }

  /** Resolves when none is under way. */
  async ended(): Promise<void> {
    if (this.#running.length === 0) return;
    await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Ends those of these tools now; by default all. Returns how many there were. */
  abort(isMeant: (tool: string) => boolean = () => true): number {
    // A copy, because each removes itself from the list.
    const meant = this.#running.filter(({ tool }) => isMeant(tool));
    for (const exchange of meant) exchange.abort();
    return meant.length;
  }

  /** Notes the exchanges that are due. A check that finds nothing under way is the last. */
  #look(): void {
    if (this.#running.length === 0) {
      if (this.#timer !== null) clearInterval(this.#timer);
      this.#timer = null;
      return;
    }
    const now = this.#clock.monotonic();
    const due = now < this.#nextNoteAt ? [] : this.#findDue(now);
    if (due.length === 0) return;
    if (this.#ledger.note(due.map((exchange) => exchange.soFar()))) {
      due.forEach((exchange) => exchange.onNoted());
      return;
    }
    this.#nextNoteAt = now + RETRY_MS;
  }

  #findDue(now: number): RunningExchange[] {
    let renewals = 0;
    return this.#running.filter((exchange) => {
      if (!exchange.isNoteDue(now)) return false;
      if (exchange.isNoted) renewals += 1;
      return !exchange.isNoted || renewals <= MOST_RENEWALS;
    });
  }
}

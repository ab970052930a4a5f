/** A round trip as the list of running ones sees it. */
interface RunningRoundTrip {
  /** Its position in the list, kept by the list. */
  position: number;
  /** Ends it now, which removes it from the list. */
  abort(): void;
}

/**
 * The round trips under way. A list, because a Set whose entries come and go with each request keeps finished requests alive
 * until the next full garbage collection; see `Connections`.
 */
export class RunningRoundTrips {
  readonly #running: RunningRoundTrip[] = [];
  #onEmpty: (() => void) | null = null;

  get size(): number {
    return this.#running.length;
  }

  add(roundTrip: RunningRoundTrip): void {
    roundTrip.position = this.#running.push(roundTrip) - 1;
  }

  /** The last one in the list takes the place of the removed one. */
  remove(roundTrip: RunningRoundTrip): void {
    const last = this.#running.pop();
    if (last !== undefined && last !== roundTrip) {
      this.#running[roundTrip.position] = last;
      last.position = roundTrip.position;
    }
    if (this.#running.length === 0) this.#onEmpty?.();
  }

  /** Resolves when none is under way. */
  async ended(): Promise<void> {
    if (this.#running.length === 0) return;
    await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Ends all of them now. */
  abort(): void {
    // A copy, because each removes itself from the list.
    const running = this.#running.slice();
    for (const roundTrip of running) roundTrip.abort();
  }
}

/** An exchange as the list of running ones sees it. */
interface RunningExchange {
  /** Its position in the list, kept by the list. */
  position: number;
  /** Ends it now and records it, which removes it from the list. */
  abort(): void;
}

/**
 * The exchanges under way: each is in it until it is recorded. A list, because a Set whose entries come and go with each
 * request keeps finished requests alive until the next full garbage collection; see `Connections`.
 */
export class RunningExchanges {
  readonly #running: RunningExchange[] = [];
  #onEmpty: (() => void) | null = null;

  get size(): number {
    return this.#running.length;
  }

  add(exchange: RunningExchange): void {
    exchange.position = this.#running.push(exchange) - 1;
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

  /** Resolves when none is under way. */
  async ended(): Promise<void> {
    if (this.#running.length === 0) return;
    await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Ends all of them now. */
  abort(): void {
    // A copy, because each removes itself from the list.
    const running = this.#running.slice();
    for (const exchange of running) exchange.abort();
  }
}

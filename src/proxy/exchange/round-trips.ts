import type { RoundTrip } from "./round-trip.ts";

/** Those under way. A list, because a Set that each request goes in and out of holds them too long: see `Connections`. */
export class RoundTrips {
  readonly #list: RoundTrip[] = [];
  #onEmpty: (() => void) | null = null;

  get size(): number {
    return this.#list.length;
  }

  add(passage: RoundTrip): void {
    passage.place = this.#list.push(passage) - 1;
  }

  /** The last one takes its place. */
  remove(passage: RoundTrip): void {
    const last = this.#list.pop();
    if (last !== undefined && last !== passage) {
      this.#list[passage.place] = last;
      last.place = passage.place;
    }
    if (this.#list.length === 0) this.#onEmpty?.();
  }

  /** Resolves when none is under way. */
  async ended(): Promise<void> {
    if (this.#list.length === 0) return;
    await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Ends each of them, which takes it off the list. */
  abort(): void {
    const running = [...this.#list];
    for (const passage of running) passage.abort();
  }
}

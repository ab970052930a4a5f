import type { RoundTripLimits } from "../../core/decide/settings.ts";
import type { Clock } from "../../ports.ts";

/** OpenAI closes a WebSocket after an hour. */
const MOST_LIFE_MS = 60 * 60_000;

/** Without a response under way. A client that is needed again opens another one. */
const MOST_IDLE_MS = 30 * 60_000;

/** What the lifetime of a WebSocket depends on. */
interface Circumstances {
  limits: Pick<RoundTripLimits, "firstByteMs" | "betweenBytesMs">;
  /** A response is under way. */
  isBusy: boolean;
  /** One of those has had an event. */
  hasEvents: boolean;
  /** The client reads what the upstream sends. */
  isRead: boolean;
}

/** How long a WebSocket may stay open, by the monotonic clock. Pings do not count: they say that a peer lives, not that it is used. */
export class Lifetime {
  readonly #clock: Clock;
  readonly #openedAt: number;
  /** When a message or an event last passed. */
  #activeAt: number;

  /** The WebSocket has just been opened. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#openedAt = this.#activeAt = clock.monotonic();
  }

  /** A message or an event passes. */
  touch(): void {
    this.#activeAt = this.#clock.monotonic();
  }

  /** Returns `silent` if the upstream has been so for too long; why no further message may come; null if the WebSocket may go on. */
  check(now: number, { limits, isBusy, hasEvents, isRead }: Circumstances): string | null {
    const quietMs = now - this.#activeAt;
    // While the client does not read, the silence is not the upstream's.
    if (isBusy && isRead && quietMs > (hasEvents ? limits.betweenBytesMs : limits.firstByteMs))
      return "silent";
    if (!isBusy && quietMs > MOST_IDLE_MS) return "the WebSocket was idle for too long";
    return now - this.#openedAt > MOST_LIFE_MS ? "the WebSocket is an hour old" : null;
  }
}

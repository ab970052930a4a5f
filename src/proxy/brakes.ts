import { createHmac, randomBytes, type Hmac } from "node:crypto";
import type { Refusal } from "../core/refusals/refusal.ts";
import { BrakeMeter, type Brake, type BrakedRequest } from "../core/policy/brake.ts";
import { refuseByBrake } from "../core/refusals/policy.ts";
import type { Clock } from "../ports.ts";

/** Counts the requests of each tool and group that has a brake. A change of the configuration keeps the counts. */
export class Brakes {
  readonly #meters = new Map<string, BrakeMeter>();
  /** Without it, nobody can find a body by its fingerprint in the memory of the process. */
  readonly #salt = randomBytes(32);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a hash to feed with the path and the body of a request. */
  startFingerprint(): Hmac {
    return createHmac("sha256", this.#salt);
  }

  /** Returns the refusal of a request that would exceed one of its brakes; null for one that may go. Counts nothing. */
  judge({ brakes, body }: BrakedRequest): Refusal | null {
    const tick = this.#clock.monotonic();
    for (const brake of brakes) {
      const breach = this.#meterOf(brake).findBreach(brake.terms, body, tick);
      if (breach !== null) return refuseByBrake(brake, breach);
    }
    return null;
  }

  /** Counts a request that goes. */
  count({ brakes, body }: BrakedRequest): void {
    const tick = this.#clock.monotonic();
    for (const brake of brakes) this.#meterOf(brake).count(brake.terms, body, tick);
  }

  /** Counts a request as running until the function that it returns is called. A second call of that does nothing. */
  enter(brakes: readonly Brake[]): () => void {
    let entered = brakes.map((brake) => this.#meterOf(brake));
    for (const meter of entered) meter.enter();
    return () => {
      for (const meter of entered) meter.leave();
      entered = [];
    };
  }

  #meterOf({ scope: { kind, name } }: Brake): BrakeMeter {
    const id = `${kind} ${name}`;
    let meter = this.#meters.get(id);
    if (meter === undefined) this.#meters.set(id, (meter = new BrakeMeter()));
    return meter;
  }
}

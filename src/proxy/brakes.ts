import { createHmac, randomBytes, type Hmac } from "node:crypto";
import type { Refusal } from "../core/refusals/refusal.ts";
import { BrakeMeter, type Brake, type BrakedRequest } from "../core/policy/brake.ts";
import { refuseByBrake } from "../core/refusals/policy.ts";
import { CanonicalBody } from "../core/policy/canonical-body.ts";
import type { Clock } from "../ports.ts";

/** Tells a body from others that ask something else: a hash of what a model reads in it. */
class Fingerprint {
  readonly #path: string;
  readonly #salt: Buffer;
  readonly #members = new Map<string, Hmac>();
  readonly #body: CanonicalBody;

  constructor(path: string, salt: Buffer) {
    this.#path = path;
    this.#salt = salt;
    this.#body = new CanonicalBody((member, bytes) => {
      let hash = this.#members.get(member);
      if (hash === undefined) this.#members.set(member, (hash = createHmac("sha256", salt)));
      hash.update(bytes);
    });
  }

  feed(chunk: Buffer): void {
    this.#body.feed(chunk);
  }

  /** Ends it. Call it once. */
  digest(): string {
    const members = [...this.#members].map(([name, hash]) => `${name} ${hash.digest("base64")}`);
    const whole = [this.#path, ...members.sort()].join("\n");
    return createHmac("sha256", this.#salt).update(whole).digest("base64");
  }
}

/** Counts the requests of each tool and group that has a brake. A change of the configuration keeps the counts. */
export class Brakes {
  readonly #meters = new Map<string, BrakeMeter>();
  /** Without it, a body cannot be found by its fingerprint in the memory of the process. */
  readonly #salt = randomBytes(32);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns what to feed with the body of a request for this path. */
  startFingerprint(path: string): Fingerprint {
    return new Fingerprint(path, this.#salt);
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

  /** As {@link Brakes.judge}, for a request that takes the place of one that runs. */
  judgeNext({ brakes, body }: BrakedRequest): Refusal | null {
    const others = brakes.map(({ scope, terms }) => ({ scope, terms: { ...terms, concurrent: null } }));
    return this.judge({ brakes: others, body });
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

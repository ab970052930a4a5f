import type { UsageRecord } from "../../core/ledger/record.ts";
import type { Tap, TappedRequest } from "../../ports.ts";

/** How many bytes all exchanges together hold while they run. */
const MOST_HELD_BYTES = 64 * 1024 * 1024;

/** Counts what all exchanges hold. */
export class HeldBytes {
  #bytes = 0;

  /** Takes so many more, unless that is too much. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > MOST_HELD_BYTES) return false;
    this.#bytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** The bytes of one body, in memory until its exchange has ended. */
export class HeldBody {
  readonly #held: HeldBytes;
  #parts: Buffer[] = [];
  #taken = 0;
  #users = 0;
  /** On the wire. */
  bytes = 0;
  isWhole = true;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  add(part: Buffer): void {
    this.bytes += part.length;
    this.isWhole &&= this.#held.take(part.length);
    if (!this.isWhole) return;
    this.#taken += part.length;
    this.#parts.push(part);
  }

  concat(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** One more needs it until it calls {@link HeldBody.drop}. */
  use(): this {
    this.#users += 1;
    return this;
  }

  /** Forgets the bytes once all that needed them have called it. */
  drop(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#held.giveBack(this.#taken);
    this.#taken = 0;
    this.#parts = [];
    this.isWhole = false;
  }
}

/** Holds a copy of one exchange until it has ended. */
export class HeldExchange implements Tap {
  readonly facts: TappedRequest;
  readonly request: HeldBody;
  readonly response: HeldBody;
  responseHeaders: readonly string[] = [];
  readonly #onEnd: (held: HeldExchange, record: UsageRecord) => void;

  /** @param request the body of an earlier attempt, which is sent again; null for the first attempt */
  constructor(
    facts: TappedRequest,
    request: HeldBody | null,
    held: HeldBytes,
    onEnd: (held: HeldExchange, record: UsageRecord) => void,
  ) {
    this.facts = facts;
    this.request = (request ?? new HeldBody(held)).use();
    this.response = new HeldBody(held).use();
    this.#onEnd = onEnd;
  }

  sawRequestBytes(bytes: Buffer): void {
    this.request.add(bytes);
  }

  sawResponse(headers: readonly string[]): void {
    this.responseHeaders = headers;
  }

  sawResponseBytes(bytes: Buffer): void {
    this.response.add(bytes);
  }

  end(record: UsageRecord): void {
    this.#onEnd(this, record);
  }

  /** Needs neither body any more. */
  drop(): void {
    this.request.drop();
    this.response.drop();
  }
}

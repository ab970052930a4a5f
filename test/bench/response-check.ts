import {
  BODY_BYTES,
  readStamp,
  STAMP_MARK,
  COMPLETE_BODIES,
  isComplete,
  type ResponseName,
} from "./responses.ts";

/** Checks the bodies on one connection and measures the delays of events with timestamps. */
export class ResponseCheck {
  readonly #length: number;
  /** The body where it is always the same. */
  readonly #expected: Buffer | null;
  /** Collects delays in microseconds; null for responses without timestamps. */
  readonly #delaysUs: number[] | null;
  #bytes = 0;
  #isDifferent = false;

  constructor(response: ResponseName, delaysUs: number[]) {
    this.#length = BODY_BYTES[response];
    this.#expected = isComplete(response) ? COMPLETE_BODIES[response] : null;
    this.#delaysUs = isComplete(response) ? null : delaysUs;
  }

  /** The number of body bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  take(bytes: Buffer, from: number, to: number): void {
    const at = this.#bytes;
    this.#bytes += to - from;
    if (this.#expected !== null && this.#expected.compare(bytes, from, to, at, this.#bytes) !== 0) {
      this.#isDifferent = true;
    }
    if (this.#delaysUs !== null) takeDelays(this.#delaysUs, bytes, from, to);
  }

  /** Returns what is wrong with the complete body; null when nothing is. */
  judge(): string | null {
    const isRight = this.#bytes === this.#length && !this.#isDifferent;
    return isRight ? null : `a body of ${this.#bytes} bytes that is not the upstream's`;
  }

  /** Starts the next response. */
  reset(): void {
    this.#bytes = 0;
    this.#isDifferent = false;
  }
}

function takeDelays(delaysUs: number[], bytes: Buffer, from: number, to: number): void {
  const now = Number(process.hrtime.bigint());
  for (let at = from; ;) {
    const mark = bytes.indexOf(STAMP_MARK, at);
    if (mark === -1 || mark >= to) return;
    at = mark + STAMP_MARK.length;
    const sentAt = readStamp(bytes, at);
    if (!Number.isNaN(sentAt)) delaysUs.push((now - sentAt) / 1_000);
  }
}

import { BODY_BYTES, readStamp, STAMP_MARK, WHOLE_BODIES, type AnswerName } from "./answers.ts";

/** Judges the bodies that come on one connection, and takes the delays of events that say when they were sent. */
export class AnswerCheck {
  readonly #length: number;
  /** The body, where it is the same every time. */
  readonly #expected: Buffer | null;
  /** Where delays go, microseconds; null for answers without stamps. */
  readonly #delaysUs: number[] | null;
  #bytes = 0;
  #isDifferent = false;

  constructor(answer: AnswerName, delaysUs: number[]) {
    const isWhole = answer === "json" || answer === "firehose";
    this.#length = BODY_BYTES[answer];
    this.#expected = isWhole ? WHOLE_BODIES[answer] : null;
    this.#delaysUs = isWhole ? null : delaysUs;
  }

  /** Body bytes of the answer so far. */
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

  /** What is wrong with the whole body; null when nothing is. */
  judge(): string | null {
    const isRight = this.#bytes === this.#length && !this.#isDifferent;
    return isRight ? null : `a body of ${this.#bytes} bytes that is not the upstream's`;
  }

  /** The next body is another answer's. */
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

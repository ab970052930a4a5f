import type { TextTaker } from "../json/json-scanner.ts";

const BACKSLASH = 0x5c;
/** So many characters are three bytes. */
const GROUP = 4;

/** Decodes the base64 of a JSON string as it arrives, in any chunking, and passes the bytes on. Holds at most three characters. */
export class Base64Reader implements TextTaker {
  readonly #take: (bytes: Buffer) => void;
  /** The characters of a group that is not complete. */
  #rest = "";
  #isReadable = true;

  constructor(take: (bytes: Buffer) => void) {
    this.#take = take;
  }

  /** False once there was an escape: no encoder needs one, and none is decoded. */
  get isReadable(): boolean {
    return this.#isReadable;
  }

  add(bytes: Buffer, from: number, to: number): void {
    const part = bytes.subarray(from, to);
    if (part.includes(BACKSLASH)) this.#isReadable = false;
    const text = this.#rest + part.toString("latin1");
    const whole = text.length - (text.length % GROUP);
    this.#rest = text.slice(whole);
    if (whole > 0) this.#take(Buffer.from(text.slice(0, whole), "base64"));
  }

  end(): void {
    if (this.#rest !== "") this.#take(Buffer.from(this.#rest, "base64"));
    this.#rest = "";
  }

  /** Prepares for the next string. */
  reset(): void {
    this.#rest = "";
    this.#isReadable = true;
  }
}

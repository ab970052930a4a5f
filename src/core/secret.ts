const PLACEHOLDER = "[secret]";
const ASTERISK = 0x2a;

/**
 * A credential that cannot be printed by accident: its string, JSON and inspect forms are all a fixed
 * placeholder. The value leaves by {@link Secret.reveal} alone, which only the key store (to store it) and
 * `core/headers` (to send it) may call; `test/architecture.test.ts` holds that.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Two callers only; see the class. */
  reveal(): string {
    return this.#value;
  }

  isSameAs(other: Secret): boolean {
    return this.#value === other.#value;
  }

  /** Length in bytes; how much of a stream {@link Secret.blot} must see at once to find the value. */
  get byteLength(): number {
    return Buffer.byteLength(this.#value);
  }

  isIn(text: string): boolean {
    return text.includes(this.#value);
  }

  /** `text` with every occurrence of the value replaced by asterisks. */
  blotText(text: string): string {
    return text.replaceAll(this.#value, "*".repeat(this.#value.length));
  }

  /** Overwrites every occurrence of the value in `bytes`, in place and length kept, so framing still holds. */
  blot(bytes: Buffer): void {
    const { byteLength } = this;
    for (let at = bytes.indexOf(this.#value); at !== -1; at = bytes.indexOf(this.#value, at + byteLength)) {
      bytes.fill(ASTERISK, at, at + byteLength);
    }
  }

  toString(): string {
    return PLACEHOLDER;
  }

  toJSON(): string {
    return PLACEHOLDER;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return PLACEHOLDER;
  }
}

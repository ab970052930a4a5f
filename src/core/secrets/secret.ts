import { KeyScanner, prepareKey, type ScannedKey } from "./key-scanner.ts";

const PLACEHOLDER = "[secret]";
const ASTERISK = 0x2a;

type Range = readonly [start: number, end: number];

/** Shorter values are not redacted: they are placeholders for local gateways, and occur in ordinary text. */
const MIN_LENGTH = 8;

/**
 * A credential that cannot be printed by accident: its string, JSON and inspect forms are a fixed placeholder. Only
 * {@link Secret.reveal} returns the value, and only the key store (to store it), core/http/credential-headers.ts (to send it) and
 * proxy/signing/aws-signer.ts (to sign with it) may call that; test/architecture.test.ts enforces this.
 */
export class Secret {
  readonly #value: string;
  readonly #expiresAt: number | null;
  /** Made by the first search: most secrets of a command are never searched for. */
  #prepared: ScannedKey | null = null;
  /** For texts, one after the other. */
  #scanner: KeyScanner | null = null;
  /** The ranges that {@link Secret.#scanner} has found. */
  readonly #found: Range[] = [];

  constructor(value: string, expiresAt: number | null = null) {
    this.#value = value;
    this.#expiresAt = expiresAt;
  }

  /** When it expires, as it or its source says; milliseconds since 1970. Null if neither says so. */
  get expiresAt(): number | null {
    return this.#expiresAt;
  }

  /** Returns the value. See the class for who may call this. */
  reveal(): string {
    return this.#value;
  }

  isSameAs(other: Secret): boolean {
    return this.#value === other.#value;
  }

  /** True when `text` contains the value in any spelling ({@link KeyScanner}), all of which are at least as long as the value. */
  isIn(text: string): boolean {
    return this.#isLongEnough(text) && this.#find(toBytes(text)).length > 0;
  }

  /** Replaces every occurrence of the value, in any spelling, by asterisks. Keeps the length. */
  redactText(text: string): string {
    if (!this.#isLongEnough(text)) return text;
    const found = this.#find(toBytes(text));
    return found.reduce(
      (redacted, [start, end]) => redacted.slice(0, start) + "*".repeat(end - start) + redacted.slice(end),
      text,
    );
  }

  /** Overwrites every occurrence in place, as {@link Secret.redactText}. Keeps the length, so the framing stays valid. */
  redactBytes(bytes: Buffer): void {
    if (!this.#isLongEnough(bytes)) return;
    for (const [start, end] of this.#find(bytes)) bytes.fill(ASTERISK, start, end);
  }

  /** Creates a scanner for a stream, or returns null for a value that is not redacted. */
  createScanner(onFound: (start: number, end: number) => void): KeyScanner | null {
    if (this.#value.length < MIN_LENGTH) return null;
    this.#prepared ??= prepareKey(this.#value);
    return new KeyScanner(this.#prepared, onFound);
  }

  #isLongEnough({ length }: string | Buffer): boolean {
    return length >= this.#value.length && this.#value.length >= MIN_LENGTH;
  }

  #find(bytes: Buffer): readonly Range[] {
    const found = this.#found;
    found.length = 0;
    this.#scanner ??= this.createScanner((start, end) => found.push([start, end]));
    this.#scanner?.read(bytes, 0);
    this.#scanner?.end();
    return found;
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

/** One byte for each code unit. No spelling has characters beyond latin1, whose lower bytes could be taken for others. */
function toBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll(/[^\0-\xff]/g, "\0"), "latin1");
}

/** The key of an upstream that takes none: it is never sent, and matches no text. */
export const NO_SECRET = new Secret("");

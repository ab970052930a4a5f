const PLACEHOLDER = "[secret]";
const ASTERISK = 0x2a;

/** Shorter values are not redacted: they are placeholders for local gateways, and occur in ordinary text. */
const MIN_LENGTH = 8;

/**
 * A credential that cannot be printed by accident: its string, JSON and inspect forms are a fixed placeholder. Only
 * {@link Secret.reveal} returns the value, and only the key store (to store it) and core/http/headers.ts (to send it) may
 * call that; test/architecture.test.ts enforces this.
 */
export class Secret {
  readonly #value: string;
  /** Matches the value in every spelling in which a service may echo it. */
  readonly #pattern: RegExp;
  readonly #maxSpellingBytes: number;

  constructor(value: string) {
    const isShort = value.length < MIN_LENGTH;
    this.#value = value;
    this.#pattern = isShort ? NOTHING : new RegExp(value.replace(ESCAPABLE, spellingPattern), "g");
    this.#maxSpellingBytes = isShort ? 0 : value.replace(ESCAPABLE, LONGEST_ESCAPE).length;
  }

  /** Returns the value. See the class for who may call this. */
  reveal(): string {
    return this.#value;
  }

  isSameAs(other: Secret): boolean {
    return this.#value === other.#value;
  }

  /** Length of the longest spelling: how much of a stream {@link Secret.redactBytes} must see at once to find the value. */
  get maxSpellingBytes(): number {
    return this.#maxSpellingBytes;
  }

  /** True when `text` contains the value in any spelling. The length check comes first, because most texts are shorter. */
  isIn(text: string): boolean {
    return text.length >= this.#value.length && text.search(this.#pattern) !== -1;
  }

  /** Replaces every occurrence of the value by asterisks, including JSON and URL spellings. */
  redactText(text: string): string {
    return text.replaceAll(this.#pattern, (found) => "*".repeat(found.length));
  }

  /** Overwrites every occurrence in place, as {@link Secret.redactText}. Keeps the length, so the framing stays valid. */
  redactBytes(bytes: Buffer): void {
    for (const { index, 0: found } of bytes.toString("latin1").matchAll(this.#pattern)) {
      bytes.fill(ASTERISK, index, index + found.length);
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

/** Matches nothing. */
const NOTHING = /(?!)/g;

/** Letters and digits are never escaped. */
const ESCAPABLE = /[^\w~-]/g;
const LONGEST_ESCAPE = "\\u0000";

/** Matches a character verbatim, or escaped for JSON (`\/` by PHP, `\u002B` by .NET) or for a URL (`%2B`). */
function spellingPattern(char: string): string {
  const hex = char.charCodeAt(0).toString(16).padStart(2, "0");
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  // The longer spellings come first, because `%` is a prefix of its own escape.
  return `(?:\\\\u00${anyCase}|%${anyCase}|\\\\?[${char.replace(/[\]\\^]/, "\\$&")}])`;
}

/** The key of an upstream that takes none: it is never sent, and matches no text. */
export const NO_SECRET = new Secret("");

const PLACEHOLDER = "[secret]";
const ASTERISK = 0x2a;

/** A shorter value is no secret but a placeholder, as local gateways take them; blotting it out would garble what it is part of. */
const LEAST_LENGTH = 8;

/**
 * A credential that cannot be printed by accident: its string, JSON and inspect forms are all a fixed
 * placeholder. The value leaves by {@link Secret.reveal} alone, which only the key store (to store it) and
 * `core/headers` (to send it) may call; `test/architecture.test.ts` holds that.
 */
export class Secret {
  readonly #value: string;
  readonly #spellings: Spellings;

  constructor(value: string) {
    this.#value = value;
    this.#spellings = spellingsOf(value);
  }

  /** The value itself. Two callers only; see the class. */
  reveal(): string {
    return this.#value;
  }

  isSameAs(other: Secret): boolean {
    return this.#value === other.#value;
  }

  /** Bytes of its longest spelling; how much of a stream {@link Secret.redactBytes} must see at once to find it. */
  get longestSpelling(): number {
    return this.#spellings.longest;
  }

  /** Most texts are shorter than a key, which says it all. */
  isIn(text: string): boolean {
    return text.length >= this.#value.length && text.search(this.#spellings.pattern) !== -1;
  }

  /** `text` with every occurrence of the value, as JSON or a URL may spell it too, replaced by asterisks. */
  redactText(text: string): string {
    return text.replaceAll(this.#spellings.pattern, (found) => "*".repeat(found.length));
  }

  /** Overwrites every occurrence in `bytes`, as {@link Secret.redactText}, in place and length kept, so framing still holds. */
  redactBytes(bytes: Buffer): void {
    for (const { index, 0: found } of bytes.toString("latin1").matchAll(this.#spellings.pattern)) {
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

/** How a value may be spelled by who repeats it: finds each of them, and how many bytes the longest has. */
interface Spellings {
  pattern: RegExp;
  longest: number;
}

/**
 * As it is, or with characters escaped as JSON's writers do it (`\/` by PHP, `\u002B` by .NET) or a URL's (`%2B`). Letters
 * and digits stand for themselves.
 */
function spellingsOf(value: string): Spellings {
  if (value.length < LEAST_LENGTH) return { pattern: NOTHING, longest: 0 };
  const pattern = value.replace(ESCAPABLE, escapable);
  return { pattern: new RegExp(pattern, "g"), longest: value.replace(ESCAPABLE, LONGEST_ESCAPE).length };
}

/** Matches no text. */
const NOTHING = /(?!)/g;

const ESCAPABLE = /[^\w~-]/g;
const LONGEST_ESCAPE = "\\u0000";

function escapable(char: string): string {
  const hex = char.charCodeAt(0).toString(16).padStart(2, "0");
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  // The longer ones first: `%` begins its own.
  return `(?:\\\\u00${anyCase}|%${anyCase}|\\\\?[${char.replace(/[\]\\^]/, "\\$&")}])`;
}

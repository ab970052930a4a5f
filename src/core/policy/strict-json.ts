/** A name that matters has at most some escapes of six bytes. A longer one is not kept. */
const MAX_NAME_BYTES = 64;

/** No value that matters is longer. */
const MAX_VALUE_BYTES = 1024;

/** Deeper than any request, and less than Python's decoder reads. */
const MAX_DEPTH = 512;

export const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const ZERO = 0x30;
export const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const FIRST_PRINTABLE = 0x20;

/** What the next byte may be. The states of numbers follow the grammar of RFC 8259 section 6. */
type State =
  | "start"
  | "first name"
  | "name"
  | "colon"
  | "value"
  | "first item"
  | "after value"
  | "string"
  | "escape"
  | "hex"
  | "literal"
  | "minus"
  | "zero"
  | "integer"
  | "point"
  | "fraction"
  | "exponent"
  | "exponent sign"
  | "exponent digits"
  | "end";

/** In these the number may end. */
const ENDS_NUMBER: ReadonlySet<State> = new Set(["zero", "integer", "fraction", "exponent digits"]);

const IS_NUMBER: ReadonlySet<State> = new Set([
  ...ENDS_NUMBER,
  "minus",
  "point",
  "exponent",
  "exponent sign",
]);

/**
 * Reads a JSON object in any chunking, as strictly as RFC 8259 says, so that every decoder finds the same names and values in it: some also take
 * comments, single quotes, NaN, a byte order mark or UTF-16. What follows the object is a fault, too. Readers of this kind say which names and values
 * they want to have.
 *
 * Keeps copies only, about a kilobyte, and an entry for each open bracket.
 */
export abstract class StrictJsonReader {
  #state: State = "start";
  /** For each open bracket, true for an object. */
  readonly #open: boolean[] = [];
  #offset = 0;
  #fault: string | null = null;
  #endsAt: number | null = null;
  /** The rest of `true`, `false` or `null`. */
  #literal = "";
  #hexLeft = 0;
  #isName = false;
  /** The string that is being kept; null when its value does not matter. */
  #kept: number[] | null = null;
  #keptFrom = 0;

  /** How many bytes it has read. */
  get bytes(): number {
    return this.#offset;
  }

  /** What is wrong with the body; null while nothing is. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Offset of the brace that ends the object; null before it. Nothing but white space may follow. */
  get endsAt(): number | null {
    return this.#endsAt;
  }

  /** Takes the next bytes. After a fault it reads no more. */
  feed(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.#fault === null) {
      if (this.#state === "string") at = this.#skipPlain(bytes, at);
      if (at < bytes.length) this.#take(bytes[at] ?? 0, this.#offset + at);
      at += 1;
    }
    this.#offset += bytes.length;
  }

  /** How many brackets are open. */
  protected get depth(): number {
    return this.#open.length;
  }

  /** Whether the names in the innermost object matter. */
  protected abstract wantsNames(): boolean;

  /** Takes a name of a member, as it stands between its quotes; null for one that does not matter, or is too long to. */
  protected abstract takeName(raw: Buffer | null): void;

  /** Takes the first byte of a value. Returns whether the value matters; then it is a string, or a fault. */
  protected abstract beginValue(byte: number): boolean;

  /** Takes a string that matters, as it stands between its quotes; null as soon as it is too long. The offsets include the quotes. */
  protected abstract takeValue(raw: Buffer | null, from: number, to: number): void;

  /** Takes note of a bracket that has been opened, or closed, at an offset of the body. */
  protected afterOpen(_offset: number): void {}
  protected afterClose(_offset: number): void {}

  /** Skips the bytes of a string that is not kept. Returns the offset of the next byte that means something. */
  #skipPlain(bytes: Buffer, from: number): number {
    if (this.#kept !== null) return from;
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE || byte === BACKSLASH || byte < FIRST_PRINTABLE) break;
    }
    return at;
  }

  #take(byte: number, offset: number): void {
    switch (this.#state) {
      case "string":
        return this.#takeOfString(byte, offset);
      case "escape":
        return this.#takeOfEscape(byte);
      case "hex":
        return this.#takeOfHex(byte);
      case "literal":
        return this.#takeOfLiteral(byte);
      default:
        return this.#takeOfNumber(byte, offset);
    }
  }

  /** Takes a byte that continues a number or, in most states, stands between values. */
  #takeOfNumber(byte: number, offset: number): void {
    if (IS_NUMBER.has(this.#state)) {
      const next = nextOfNumber(this.#state, byte);
      if (next !== null) {
        this.#state = next;
        return;
      }
      if (!ENDS_NUMBER.has(this.#state)) return this.fail();
      this.#state = "after value";
    }
    if (!isSpace(byte)) this.#takeOfStructure(byte, offset);
  }

  #takeOfStructure(byte: number, offset: number): void {
    switch (this.#state) {
      case "start":
        return byte === OPEN_BRACE
          ? this.#openBracket(true, offset)
          : this.fail("the body is not a JSON object");
      case "first name":
        return byte === CLOSE_BRACE ? this.#close(true, offset) : this.#beginName(byte, offset);
      case "name":
        return this.#beginName(byte, offset);
      case "colon":
        this.#state = "value";
        return byte === COLON ? undefined : this.fail();
      case "first item":
        return byte === CLOSE_BRACKET ? this.#close(false, offset) : this.#beginValue(byte, offset);
      case "value":
        return this.#beginValue(byte, offset);
      case "after value":
        return this.#takeAfterValue(byte, offset);
      default:
        return this.fail("something follows the JSON object");
    }
  }

  #beginName(byte: number, offset: number): void {
    if (byte !== QUOTE) return this.fail();
    this.#beginString(offset, true, this.wantsNames());
  }

  #beginValue(byte: number, offset: number): void {
    const isWanted = this.beginValue(byte);
    if (byte === QUOTE) return this.#beginString(offset, false, isWanted);
    if (byte === OPEN_BRACE) return this.#openBracket(true, offset);
    if (byte === OPEN_BRACKET) return this.#openBracket(false, offset);
    if (byte === MINUS) this.#state = "minus";
    else if (byte === ZERO) this.#state = "zero";
    else if (isDigit(byte)) this.#state = "integer";
    else this.#beginLiteral(byte);
  }

  #beginLiteral(byte: number): void {
    const word = ["true", "false", "null"].find((known) => known.charCodeAt(0) === byte);
    if (word === undefined) return this.fail();
    this.#literal = word.slice(1);
    this.#state = "literal";
  }

  #beginString(offset: number, isName: boolean, isKept: boolean): void {
    this.#isName = isName;
    this.#kept = isKept ? [] : null;
    this.#keptFrom = offset;
    this.#state = "string";
  }

  #takeOfString(byte: number, offset: number): void {
    if (byte === QUOTE) return this.#endString(offset + 1);
    if (byte < FIRST_PRINTABLE) return this.fail();
    if (byte === BACKSLASH) this.#state = "escape";
    this.#keep(byte);
  }

  #takeOfEscape(byte: number): void {
    const character = String.fromCharCode(byte);
    if (character === "u") {
      this.#state = "hex";
      this.#hexLeft = 4;
    } else if ('"\\/bfnrt'.includes(character)) this.#state = "string";
    else return this.fail();
    this.#keep(byte);
  }

  #takeOfHex(byte: number): void {
    if (!/[0-9a-f]/i.test(String.fromCharCode(byte))) return this.fail();
    this.#hexLeft -= 1;
    if (this.#hexLeft === 0) this.#state = "string";
    this.#keep(byte);
  }

  #takeOfLiteral(byte: number): void {
    if (this.#literal.charCodeAt(0) !== byte) return this.fail();
    this.#literal = this.#literal.slice(1);
    if (this.#literal === "") this.#state = "after value";
  }

  #keep(byte: number): void {
    if (this.#kept === null) return;
    this.#kept.push(byte);
    if (this.#kept.length <= (this.#isName ? MAX_NAME_BYTES : MAX_VALUE_BYTES)) return;
    this.#kept = null;
    if (!this.#isName) this.takeValue(null, this.#keptFrom, this.#offset);
  }

  #endString(to: number): void {
    const kept = this.#kept;
    this.#kept = null;
    this.#state = this.#isName ? "colon" : "after value";
    if (this.#isName) this.takeName(kept === null ? null : Buffer.from(kept));
    else if (kept !== null) this.takeValue(Buffer.from(kept), this.#keptFrom, to);
  }

  #openBracket(isObject: boolean, offset: number): void {
    this.#open.push(isObject);
    this.#state = isObject ? "first name" : "first item";
    if (this.#open.length > MAX_DEPTH) return this.fail("the body is nested too deeply");
    this.afterOpen(offset);
  }

  #close(isObject: boolean, offset: number): void {
    if (this.#open.pop() !== isObject) return this.fail();
    this.#state = "after value";
    this.afterClose(offset);
    if (this.#open.length > 0) return;
    this.#state = "end";
    this.#endsAt = offset;
  }

  #takeAfterValue(byte: number, offset: number): void {
    const isInObject = this.#open.at(-1) === true;
    if (byte === COMMA) this.#state = isInObject ? "name" : "value";
    else if (byte === CLOSE_BRACE) this.#close(true, offset);
    else if (byte === CLOSE_BRACKET) this.#close(false, offset);
    else this.fail();
  }

  protected fail(fault = "the body is not valid JSON"): void {
    this.#fault ??= fault;
  }
}

/** Returns the state after the next byte of a number; null when the byte does not belong to it. */
function nextOfNumber(state: State, byte: number): State | null {
  const isPoint = byte === 0x2e;
  const isExponent = byte === 0x65 || byte === 0x45;
  switch (state) {
    case "minus":
      return byte === ZERO ? "zero" : isDigit(byte) ? "integer" : null;
    case "zero":
      return isPoint ? "point" : isExponent ? "exponent" : null;
    case "integer":
      return isDigit(byte) ? "integer" : isPoint ? "point" : isExponent ? "exponent" : null;
    case "point":
      return isDigit(byte) ? "fraction" : null;
    case "fraction":
      return isDigit(byte) ? "fraction" : isExponent ? "exponent" : null;
    case "exponent":
      return byte === 0x2b || byte === MINUS ? "exponent sign" : isDigit(byte) ? "exponent digits" : null;
    default:
      return isDigit(byte) ? "exponent digits" : null;
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= 0x39;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

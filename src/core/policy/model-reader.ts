import { withoutCollection } from "../http/gemini/model-path.ts";

/** The names of models are shorter. */
const MAX_MODEL_BYTES = 1024;

/** A name that stands for "model" has at most five escapes of six bytes. A longer one is not kept. */
const MAX_NAME_BYTES = 64;

/** Members by which services take further models, to use instead: OpenRouter `models`, LiteLLM `fallbacks` and all in `extra_body`. */
const FURTHER_MODELS: ReadonlySet<string> = new Set(["models", "fallbacks", "extra_body"]);

/** How deep a request of Google's API can name a model besides its path: `requests[].model`. */
const DEPTH_IN_PATH = 3;

/** Deeper than any request, and less than Python's decoder reads. */
const MAX_DEPTH = 512;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const ZERO = 0x30;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
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

/** Where the value of `model` stands in the body: offsets of its first byte, the quote, and of the byte after it. */
interface ModelPlace {
  model: string;
  from: number;
  to: number;
}

/**
 * Reads the one `model` of a JSON request, in any chunking, so that the upstream will read the same: a body in which decoders
 * could find another one is at fault. JSON.parse takes the last of two members, others the first; Go's encoding/json also
 * takes `"Model"`; Python's json takes a byte order mark, NaN and UTF-16. So it accepts strict JSON only (RFC 8259): an object in UTF-8 with exactly
 * one member called `model`, a string, and no member whose name is another spelling of it.
 *
 * Keeps copies only, about a kilobyte, however long the body is.
 */
export class ModelReader {
  #state: State = "start";
  /** For each open bracket, true for an object. */
  readonly #open: boolean[] = [];
  #offset = 0;
  #fault: string | null = null;
  #place: ModelPlace | null = null;
  #endsAt: number | null = null;
  /** The rest of `true`, `false` or `null`. */
  #literal = "";
  #hexLeft = 0;
  #isName = false;
  /** True for the value that belongs to the name `model`. */
  #isModel = false;
  /** The string that is being kept; null when its value does not matter. */
  #kept: number[] | null = null;
  #keptFrom = 0;
  readonly #isOnly: boolean;

  readonly #member: string;
  /** What each model that the body names has to be; null for a body that has to name one itself. */
  #inPath: { model: string; isReplaced: boolean } | null = null;

  /**
   * @param isOnly whether it is a fault to name further models for the service to choose from
   * @param member another member to read in place of the model, by the same rules: a name without escapes, in lower case
   */
  constructor(isOnly: boolean, member = "model") {
    this.#isOnly = isOnly;
    this.#member = member;
  }

  /**
   * Returns a reader for a request of Google's API, whose model is in its path. There the body need not name one; but each that it names at
   * the top, in `generateContentRequest` or in one of the `requests` has to be that, as `models/NAME`.
   * @param isReplaced whether an alias takes the model's place in the path: then the body may name none, as it would contradict that
   */
  static ofPath(model: string, isOnly: boolean, isReplaced: boolean): ModelReader {
    const reader = new ModelReader(isOnly);
    reader.#inPath = { model, isReplaced };
    return reader;
  }

  /** How many bytes it has read. */
  get bytes(): number {
    return this.#offset;
  }

  /** Why the body does not name one model; null while it may. */
  get fault(): string | null {
    return this.#fault;
  }

  /** The model, as soon as its value has been read. Another may follow, which is a fault. */
  get place(): ModelPlace | null {
    return this.#place;
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

  /** Ends the body. Returns what is wrong with it as a whole; null when it names one model. */
  finish(): string | null {
    if (this.#fault !== null) return this.#fault;
    if (this.#endsAt === null) return "the body is not complete JSON";
    return this.#place === null && this.#inPath === null ? `the body names no ${this.#member}` : null;
  }

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
      if (!ENDS_NUMBER.has(this.#state)) return this.#fail();
      this.#state = "after value";
    }
    if (!isSpace(byte)) this.#takeOfStructure(byte, offset);
  }

  #takeOfStructure(byte: number, offset: number): void {
    switch (this.#state) {
      case "start":
        return byte === OPEN_BRACE ? this.#openBracket(true) : this.#fail("the body is not a JSON object");
      case "first name":
        return byte === CLOSE_BRACE ? this.#close(true, offset) : this.#beginName(byte, offset);
      case "name":
        return this.#beginName(byte, offset);
      case "colon":
        this.#state = "value";
        return byte === COLON ? undefined : this.#fail();
      case "first item":
        return byte === CLOSE_BRACKET ? this.#close(false, offset) : this.#beginValue(byte, offset);
      case "value":
        return this.#beginValue(byte, offset);
      case "after value":
        return this.#takeAfterValue(byte, offset);
      default:
        return this.#fail("something follows the JSON object");
    }
  }

  #beginName(byte: number, offset: number): void {
    if (byte !== QUOTE) return this.#fail();
    this.#beginString(offset, true, this.#open.length <= (this.#inPath === null ? 1 : DEPTH_IN_PATH));
  }

  #beginValue(byte: number, offset: number): void {
    if (this.#isModel && byte !== QUOTE) return this.#fail(`the ${this.#member} is not a string`);
    if (byte === QUOTE) return this.#beginString(offset, false, this.#isModel);
    if (byte === OPEN_BRACE) return this.#openBracket(true);
    if (byte === OPEN_BRACKET) return this.#openBracket(false);
    if (byte === MINUS) this.#state = "minus";
    else if (byte === ZERO) this.#state = "zero";
    else if (isDigit(byte)) this.#state = "integer";
    else this.#beginLiteral(byte);
  }

  #beginLiteral(byte: number): void {
    const word = ["true", "false", "null"].find((known) => known.charCodeAt(0) === byte);
    if (word === undefined) return this.#fail();
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
    if (byte < FIRST_PRINTABLE) return this.#fail();
    if (byte === BACKSLASH) this.#state = "escape";
    this.#keep(byte);
  }

  #takeOfEscape(byte: number): void {
    const character = String.fromCharCode(byte);
    if (character === "u") {
      this.#state = "hex";
      this.#hexLeft = 4;
    } else if ('"\\/bfnrt'.includes(character)) this.#state = "string";
    else return this.#fail();
    this.#keep(byte);
  }

  #takeOfHex(byte: number): void {
    if (!/[0-9a-f]/i.test(String.fromCharCode(byte))) return this.#fail();
    this.#hexLeft -= 1;
    if (this.#hexLeft === 0) this.#state = "string";
    this.#keep(byte);
  }

  #takeOfLiteral(byte: number): void {
    if (this.#literal.charCodeAt(0) !== byte) return this.#fail();
    this.#literal = this.#literal.slice(1);
    if (this.#literal === "") this.#state = "after value";
  }

  #keep(byte: number): void {
    if (this.#kept === null) return;
    this.#kept.push(byte);
    if (this.#kept.length <= (this.#isName ? MAX_NAME_BYTES : MAX_MODEL_BYTES)) return;
    if (!this.#isName) this.#fail(`the ${this.#member}'s name is too long`);
    this.#kept = null;
  }

  #endString(to: number): void {
    const kept = this.#kept;
    this.#kept = null;
    this.#state = this.#isName ? "colon" : "after value";
    if (this.#isName) this.#isModel = kept !== null && this.#isModelName(Buffer.from(kept));
    else if (kept !== null) this.#endModel(Buffer.from(kept), to);
  }

  #isModelName(raw: Buffer): boolean {
    const text = raw.toString("latin1");
    if (text === this.#member) return true;
    const name = readLoosely(raw);
    if (name === this.#member) this.#fail(`a member's name is another spelling of "${this.#member}"`);
    if (this.#isOnly && FURTHER_MODELS.has(name)) this.#fail(`"${name}" may name other models`);
    return false;
  }

  #endModel(raw: Buffer, to: number): void {
    this.#isModel = false;
    const model = JSON.parse(`"${raw.toString()}"`) as string;
    if (this.#inPath !== null) return this.#compare(model, this.#inPath);
    if (this.#place !== null) return this.#fail(`the body names two ${this.#member}s`);
    if (model === "" || /[\uD800-\uDFFF\uFFFD]/u.test(model))
      return this.#fail(`the ${this.#member}'s name cannot be read`);
    this.#place = { model, from: this.#keptFrom, to };
  }

  #compare(named: string, { model, isReplaced }: { model: string; isReplaced: boolean }): void {
    if (isReplaced) return this.#fail("the body repeats the model, for which there is an alias");
    if (withoutCollection(named) !== model) this.#fail("the body names another model than the path");
  }

  #openBracket(isObject: boolean): void {
    this.#open.push(isObject);
    this.#state = isObject ? "first name" : "first item";
    if (this.#open.length > MAX_DEPTH) this.#fail("the body is nested too deeply");
  }

  #close(isObject: boolean, offset: number): void {
    if (this.#open.pop() !== isObject) return this.#fail();
    this.#state = "after value";
    if (this.#open.length > 0) return;
    this.#state = "end";
    this.#endsAt = offset;
  }

  #takeAfterValue(byte: number, offset: number): void {
    const isInObject = this.#open.at(-1) === true;
    if (byte === COMMA) this.#state = isInObject ? "name" : "value";
    else if (byte === CLOSE_BRACE) this.#close(true, offset);
    else if (byte === CLOSE_BRACKET) this.#close(false, offset);
    else this.#fail();
  }

  #fail(fault = "the body is not valid JSON"): void {
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

/** Returns a member's name as some decoder could take it: without escapes, in lower case, and without bytes that it drops. */
function readLoosely(raw: Buffer): string {
  const name = JSON.parse(`"${raw.toString("latin1")}"`) as string;
  return name.replaceAll(/[^\x21-\x7e]/g, "").toLowerCase();
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= 0x39;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The members of a request from which a model reads, in any of the APIs. What else there is changes no question. */
const READ_BY_MODELS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "system",
  "prompt",
  "input",
  "instructions",
  "previous_response_id",
  "conversation",
  "query",
  "documents",
  "requests",
  "input_file_id",
  // Google's API, in both spellings that it takes.
  "contents",
  "content",
  "instances",
  "batch",
  "systemInstruction",
  "system_instruction",
  "cachedContent",
  "cached_content",
  "previous_interaction_id",
  // The messages of its Live API.
  "setup",
  "clientContent",
  "client_content",
  "realtimeInput",
  "realtime_input",
  "toolResponse",
  "tool_response",
]);

/** No name of those is longer. */
const MAX_NAME_BYTES = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** What stands for white space after a backslash: n, r, t, f and b. */
const SPACE_ESCAPES = new Set([0x6e, 0x72, 0x74, 0x66, 0x62]);

/**
 * Brings a JSON body into a form in which two requests are the same if a model reads the same in them: without white space, inside texts
 * too, without escapes of ASCII characters, and without the members that no model reads. Each member of the object comes on its own,
 * so that their order does not matter. A body that is no JSON object comes as it is, as one member without a name.
 *
 * For comparing only: that "a b" and "ab" are the same here does no harm, as a tool hardly ever asks both.
 */
export class CanonicalBody {
  readonly #onPiece: (member: string, bytes: Buffer) => void;
  #isObject: boolean | null = null;
  #depth = 0;
  #isInString = false;
  /** Bytes of an escape so far, from its backslash; empty outside of one. */
  #escape: number[] = [];
  /** The bytes of a member's name; null where no name is read. */
  #name: number[] | null = null;
  /** True where a string at the top would be the name of a member. */
  #expectsName = false;
  /** The member whose value is read; null for one that no model reads, and between members. */
  #member: string | null = null;

  /** `onPiece` gets what is left of each member, in any chunking. */
  constructor(onPiece: (member: string, bytes: Buffer) => void) {
    this.#onPiece = onPiece;
  }

  /** Takes the next bytes of the body. */
  feed(chunk: Buffer): void {
    let at = 0;
    if (this.#isObject === null) {
      while (at < chunk.length && isSpace(chunk[at] ?? 0)) at += 1;
      if (at === chunk.length) return;
      this.#isObject = chunk[at] === 0x7b;
    }
    if (!this.#isObject) {
      this.#onPiece("", chunk);
      return;
    }
    const kept = Buffer.allocUnsafe(chunk.length + 6);
    let length = 0;
    const keep = (byte: number) => {
      if (this.#member !== null) kept[length++] = byte;
    };
    const flush = () => {
      if (this.#member !== null && length > 0) this.#onPiece(this.#member, kept.subarray(0, length));
      length = 0;
    };
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#isInString) this.#takeOfString(byte, keep);
      else if (!isSpace(byte)) this.#takeOfStructure(byte, keep, flush);
    }
    flush();
  }

  #takeOfString(byte: number, keep: (byte: number) => void): void {
    if (this.#escape.length > 0) {
      this.#takeOfEscape(byte, keep);
      return;
    }
    if (byte === BACKSLASH) {
      this.#escape.push(byte);
      return;
    }
    if (byte === QUOTE) {
      this.#isInString = false;
      if (this.#name === null) keep(byte);
      return;
    }
    if (this.#name !== null) {
      if (this.#name.length < MAX_NAME_BYTES) this.#name.push(byte);
    } else if (!isSpace(byte)) keep(byte);
  }

  #takeOfEscape(byte: number, keep: (byte: number) => void): void {
    const escape = this.#escape;
    escape.push(byte);
    const isHex = escape[1] === LETTER_U;
    if (isHex && escape.length < 6) return;
    this.#escape = [];
    const code = isHex ? Number.parseInt(String.fromCharCode(...escape.slice(2)), 16) : -1;
    if (this.#name !== null) {
      // A name in another spelling is none of those that are compared.
      this.#name.push(code > 0x20 && code < 0x7f ? code : BACKSLASH);
    } else if (isHex && code < 0x80) {
      // A quote stays escaped, or it would look like the end of the text.
      if (code === QUOTE || code === BACKSLASH) keep(BACKSLASH);
      if (code > 0x20) keep(code);
    } else if (!SPACE_ESCAPES.has(byte) || isHex) escape.forEach(keep);
  }

  #takeOfStructure(byte: number, keep: (byte: number) => void, flush: () => void): void {
    switch (byte) {
      case QUOTE:
        this.#isInString = true;
        if (this.#expectsName) this.#name = [];
        else keep(byte);
        return;
      case 0x3a: // :
        if (this.#name !== null) this.#beginMember(this.#name);
        else keep(byte);
        return;
      case 0x7b: // {
      case 0x5b: // [
        this.#depth += 1;
        if (this.#depth === 1) this.#expectsName = true;
        else keep(byte);
        return;
      case 0x7d: // }
      case 0x5d: // ]
        this.#depth -= 1;
        if (this.#depth > 0) keep(byte);
        return;
      case 0x2c: // ,
        if (this.#depth > 1) {
          keep(byte);
          return;
        }
        flush();
        this.#member = null;
        this.#expectsName = true;
        return;
      default:
        keep(byte);
    }
  }

  #beginMember(bytes: readonly number[]): void {
    const name = String.fromCharCode(...bytes);
    this.#name = null;
    this.#expectsName = false;
    this.#member = READ_BY_MODELS.has(name) ? name : null;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

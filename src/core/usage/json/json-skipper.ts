const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SCALAR_STARTS = new Set(Buffer.from("-0123456789tfn"));
const SCALAR_ENDS = new Set(Buffer.from(",}] \t\r\n"));

/**
 * Finds the end of one JSON value without looking into it, in any chunking. Strings and the number of open brackets
 * are all that it minds: it holds a few numbers, however long or deep the value is.
 */
export class JsonSkipper {
  #kind: "string" | "nested" | "scalar" = "scalar";
  #depth = 0;
  #deepest = 0;
  #isInString = false;
  /** Inside a string, after an odd number of backslashes at the end of the last chunk. */
  #isEscaped = false;

  /** How many brackets were open at once. */
  get deepest(): number {
    return this.#deepest;
  }

  /** Starts on the value whose first byte this is; returns false when none begins so. Go on behind that byte. */
  begin(byte: number): boolean {
    this.#depth = 0;
    this.#deepest = 0;
    this.#isInString = byte === QUOTE;
    this.#isEscaped = false;
    if (byte === QUOTE) this.#kind = "string";
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#kind = "nested";
      this.#depth = 1;
      this.#deepest = 1;
    } else this.#kind = "scalar";
    return this.#kind !== "scalar" || SCALAR_STARTS.has(byte);
  }

  /** Reads on from `at`; returns where the value has ended, or -1 when that is not in these bytes. */
  hop(bytes: Buffer, at: number): number {
    switch (this.#kind) {
      case "string":
        return this.#hopString(bytes, at);
      case "nested":
        return this.#hopNested(bytes, at);
      case "scalar":
        return hopScalar(bytes, at);
    }
  }

  #hopNested(bytes: Buffer, start: number): number {
    let at = this.#isInString ? this.#hopString(bytes, start) : start;
    while (at !== -1 && at < bytes.length) {
      const byte = bytes[at++];
      if (byte === QUOTE) at = this.#hopString(bytes, at);
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.#depth++;
        if (this.#depth > this.#deepest) this.#deepest = this.#depth;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#depth === 0) return at;
      }
    }
    return -1;
  }

  /** From inside a string to behind its closing quote: the first one after an even number of backslashes. */
  #hopString(bytes: Buffer, start: number): number {
    for (let at = start; ;) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote === -1 ? bytes.length : quote;
      let slash = end;
      while (slash > at && bytes[slash - 1] === BACKSLASH) slash--;
      const isOdd = (end - slash) % 2 === 1;
      const isEscaped = slash === at && this.#isEscaped ? !isOdd : isOdd;
      this.#isEscaped = quote === -1 && isEscaped;
      this.#isInString = quote === -1 || isEscaped;
      if (!this.#isInString) return quote + 1;
      if (quote === -1) return -1;
      at = quote + 1;
    }
  }
}

function hopScalar(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) if (SCALAR_ENDS.has(bytes[at] ?? COMMA)) return at;
  return -1;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SCALAR_STARTS = new Set(Buffer.from("-0123456789tfn"));
const SCALAR_ENDS = new Set(Buffer.from(",}] \t\r\n"));

/** Finds the end of one JSON value in any chunking, without parsing it. Tracks only strings and the number of brackets. */
export class JsonSkipper {
  #kind: "string" | "nested" | "scalar" = "scalar";
  #depth = 0;
  #maxDepth = 0;
  #isInString = false;
  /** True when the last chunk ended inside a string, after an odd number of backslashes. */
  #isEscaped = false;

  /** The greatest number of brackets open at once. */
  get maxDepth(): number {
    return this.#maxDepth;
  }

  /** Starts a value with its first byte; returns false when no value can start with it. Continue with the byte after it. */
  begin(byte: number): boolean {
    this.#depth = 0;
    this.#maxDepth = 0;
    this.#isInString = byte === QUOTE;
    this.#isEscaped = false;
    if (byte === QUOTE) this.#kind = "string";
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#kind = "nested";
      this.#depth = 1;
      this.#maxDepth = 1;
    } else this.#kind = "scalar";
    return this.#kind !== "scalar" || SCALAR_STARTS.has(byte);
  }

  /** Skips from `at`. Returns the offset after the value's end, or -1 when these bytes do not contain it. */
  skip(bytes: Buffer, at: number): number {
    switch (this.#kind) {
      case "string":
        return this.#skipString(bytes, at);
      case "nested":
        return this.#skipNested(bytes, at);
      case "scalar":
        return skipScalar(bytes, at);
    }
  }

  #skipNested(bytes: Buffer, start: number): number {
    let at = this.#isInString ? this.#skipString(bytes, start) : start;
    while (at !== -1 && at < bytes.length) {
      const byte = bytes[at++];
      if (byte === QUOTE) at = this.#skipString(bytes, at);
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.#depth++;
        if (this.#depth > this.#maxDepth) this.#maxDepth = this.#depth;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#depth === 0) return at;
      }
    }
    return -1;
  }

  /** Skips from inside a string to after its closing quote: the first one that follows an even number of backslashes. */
  #skipString(bytes: Buffer, start: number): number {
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

function skipScalar(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) if (SCALAR_ENDS.has(bytes[at] ?? COMMA)) return at;
  return -1;
}

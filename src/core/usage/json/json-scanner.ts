import type { JsonObject } from "../../json.ts";
import { findName, isSpace, isUnescaped } from "../bytes.ts";
import { BoundedText } from "./bounded-text.ts";
import { JsonSkipper } from "./json-skipper.ts";

/** Selects values of a JSON document: a nested selection, members of an object; a number, a value of at most so many bytes. */
export interface Selection {
  readonly [name: string]: Selection | number;
}

/** An object that is being read because some of its members are selected. */
interface OpenObject {
  selection: Selection;
  into: JsonObject;
  /** The object that contains it. */
  parent: OpenObject | null;
}

/** What the next byte belongs to. `between` is the space between members, `colon` that after a name. */
type Mode = "before value" | "value" | "between" | "name" | "colon" | "end";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const NAME_BYTES = 256;
/** Deeper values are not kept, so that recursive readers and JSON.stringify cannot run out of stack. */
const MAX_DEPTH = 32;

/**
 * Reads JSON (RFC 8259) as its bytes arrive, in any chunking, and keeps only the values of a {@link Selection}. It skips the
 * rest, so neither the length nor the depth of a document costs memory: it holds the fields kept so far, each within its limit,
 * and one buffer of at most the largest limit or 256 bytes. In skipped values it checks only strings and the number of open
 * brackets. Of duplicate names the last one counts.
 *
 * Costs 0.1 µs per member of a selected object, at least 0.2 µs per value kept, and 0.03 to 2 ms per MB skipped: prose costs
 * least, then code, then short records, because short strings cost most.
 */
export class JsonScanner {
  readonly #selection: Selection;
  readonly #kept = new BoundedText();
  readonly #skipper = new JsonSkipper();
  #fields: JsonObject = {};
  #open: OpenObject | null = null;
  #mode: Mode = "before value";
  #selected: Selection | number | undefined;
  #name = "";
  #isKeeping = false;
  /** Offset in the current chunk where the value to keep starts. */
  #keptFrom = 0;
  #isBroken = false;

  constructor(selection: Selection) {
    this.#selection = selection;
    this.#selected = selection;
  }

  /** The selected values read so far, as JSON.parse returns them. A value that is too long or too deep is undefined. */
  get fields(): JsonObject {
    return this.#fields;
  }

  /** True when one whole document has been read, and nothing after it. */
  get isComplete(): boolean {
    return this.#mode === "end" && !this.#isBroken;
  }

  /** True when the bytes cannot become valid JSON. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Prepares for another document. Does not touch fields that have been returned. */
  reset(): void {
    this.#fields = {};
    this.#open = null;
    this.#mode = "before value";
    this.#selected = this.#selection;
    this.#isKeeping = false;
    this.#isBroken = false;
  }

  /** Takes the next bytes. Keeps copies only. */
  feed(bytes: Buffer): void {
    this.#keptFrom = 0;
    let at = 0;
    while (at < bytes.length && !this.#isBroken) at = this.#step(bytes, at);
    if (this.#isKeeping) this.#kept.add(bytes, this.#keptFrom, bytes.length);
  }

  /** Reads from `at` in the current mode. Returns the offset where the next step continues. */
  #step(bytes: Buffer, at: number): number {
    if (this.#mode === "value" || this.#mode === "name") return this.#skip(bytes, at);
    const byte = bytes[at] ?? 0;
    if (isSpace(byte)) return at + 1;
    if (this.#mode === "before value") this.#beginValue(byte, at);
    else if (this.#mode === "between") this.#beginMember(byte, at);
    else if (this.#mode === "colon" && byte === COLON) this.#mode = "before value";
    else this.#isBroken = true;
    return at + 1;
  }

  #skip(bytes: Buffer, at: number): number {
    const end = this.#skipper.skip(bytes, at);
    if (end === -1) return bytes.length;
    if (this.#mode === "name") this.#endName(bytes, end);
    else this.#endValue(bytes, end);
    return end;
  }

  #beginValue(byte: number, at: number): void {
    if (byte === OPEN_BRACE && typeof this.#selected === "object") return this.#openObject(this.#selected);
    if (typeof this.#selected === "number") this.#keep(this.#selected, at);
    else this.#assign(undefined);
    this.#isBroken = !this.#skipper.begin(byte);
    this.#mode = "value";
  }

  #openObject(selection: Selection): void {
    const into: JsonObject = this.#open === null ? this.#fields : {};
    this.#assign(into);
    this.#open = { selection, into, parent: this.#open };
    this.#mode = "between";
  }

  #beginMember(byte: number, at: number): void {
    if (byte === QUOTE) {
      this.#keep(NAME_BYTES, at);
      this.#skipper.begin(byte);
      this.#mode = "name";
    } else if (byte === CLOSE_BRACE) {
      this.#open = this.#open?.parent ?? null;
      this.#afterValue();
    } else this.#isBroken = byte !== COMMA;
  }

  #endName(bytes: Buffer, end: number): void {
    const selection = this.#open?.selection ?? {};
    this.#name = this.#takeName(bytes, end, selection);
    this.#selected = Object.hasOwn(selection, this.#name) ? selection[this.#name] : undefined;
    this.#mode = "colon";
  }

  /** Returns the name if it is selected, else any name that is not. Compares in place where possible: 20 ns instead of 200. */
  #takeName(bytes: Buffer, end: number, selection: Selection): string {
    const [from, to] = [this.#keptFrom + 1, end - 1];
    if (this.#kept.isEmpty && isUnescaped(bytes, from, to)) {
      this.#isKeeping = false;
      return findName(selection, bytes, from, to);
    }
    const name = this.#takeKept(bytes, end);
    return typeof name === "string" ? name : "";
  }

  #endValue(bytes: Buffer, end: number): void {
    if (this.#isKeeping) this.#assign(this.#takeKept(bytes, end));
    this.#afterValue();
  }

  #afterValue(): void {
    this.#mode = this.#open === null ? "end" : "between";
  }

  /** Sets the value of the current member, if it is selected. */
  #assign(value: unknown): void {
    if (this.#open !== null && this.#selected !== undefined) this.#open.into[this.#name] = value;
  }

  #keep(limit: number, at: number): void {
    this.#kept.reset(limit);
    this.#isKeeping = true;
    this.#keptFrom = at;
  }

  #takeKept(bytes: Buffer, end: number): unknown {
    const text = this.#kept.finish(bytes, this.#keptFrom, end);
    this.#isKeeping = false;
    if (text === null || this.#skipper.maxDepth > MAX_DEPTH) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      this.#isBroken = true;
      return undefined;
    }
  }
}

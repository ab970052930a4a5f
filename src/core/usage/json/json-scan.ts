import { isSpace } from "./is-space.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { findName, isPlain } from "./plain-name.ts";
import { JsonSkipper } from "./json-skipper.ts";

/**
 * Which values of a document are wanted: a nested shape means "an object, of which these members", a number
 * "this value whole, up to so many bytes of its text".
 */
export interface Shape {
  readonly [name: string]: Shape | number;
}

/** The wanted values of a document as JSON.parse would give them; a value that is too long or too deep is undefined. */
export interface Fields {
  [name: string]: unknown;
}

/** An object that is being read because members of it are wanted. */
interface OpenObject {
  shape: Shape;
  into: Fields;
  /** The object that it is a member of. */
  parent: OpenObject | null;
}

/**
 * What the next byte belongs to: white space before a value, a value being hopped over, what stands between members,
 * a name, what stands behind it, or what follows the document.
 */
type Mode = "before value" | "value" | "between" | "name" | "colon" | "end";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const NAME_BYTES = 256;
/** A kept value nests no deeper, so that whoever stringifies it later cannot run out of stack. */
const KEPT_DEPTH = 32;

/**
 * Reads JSON (RFC 8259) as its bytes arrive, in any chunking, and keeps the values of a {@link Shape} alone. It hops
 * over the rest, so neither a document's length nor its depth costs memory: at any time it holds the fields kept so
 * far (each within its limit of the shape) and one buffer no longer than the largest such limit or 256 bytes. Of
 * what it hops over only strings and the number of open brackets are checked. Of duplicate names the last counts.
 * Costs 0.1 µs per member of a wanted object, 0.2 and more per value kept, and 0.03 to 2 ms per MB hopped over, the more the
 * shorter its strings: prose, code, short records.
 */
export class JsonScan {
  readonly #shape: Shape;
  readonly #kept = new KeptBytes();
  readonly #hop = new JsonSkipper();
  #fields: Fields = {};
  #open: OpenObject | null = null;
  #mode: Mode = "before value";
  #wanted: Shape | number | undefined;
  #name = "";
  #isKeeping = false;
  /** Where the kept value began in the chunk at hand. */
  #keptFrom = 0;
  #isBroken = false;

  constructor(shape: Shape) {
    this.#shape = shape;
    this.#wanted = shape;
  }

  /** The wanted values read so far. */
  get fields(): Fields {
    return this.#fields;
  }

  /** Has one whole document been read, and nothing after it? */
  get isComplete(): boolean {
    return this.#mode === "end" && !this.#isBroken;
  }

  /** Is this no JSON, whatever comes next? */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Forgets everything, ready for the next document. Fields handed out before are left alone. */
  reset(): void {
    this.#fields = {};
    this.#open = null;
    this.#mode = "before value";
    this.#wanted = this.#shape;
    this.#isKeeping = false;
    this.#isBroken = false;
  }

  /** Takes the next bytes; keeps copies only. */
  feed(bytes: Buffer): void {
    this.#keptFrom = 0;
    let at = 0;
    while (at < bytes.length && !this.#isBroken) at = this.#step(bytes, at);
    if (this.#isKeeping) this.#kept.add(bytes, this.#keptFrom, bytes.length);
  }

  /** Reads on from `at` in the present mode; returns where the next step goes on. */
  #step(bytes: Buffer, at: number): number {
    if (this.#mode === "value" || this.#mode === "name") return this.#hopOn(bytes, at);
    const byte = bytes[at] ?? 0;
    if (isSpace(byte)) return at + 1;
    if (this.#mode === "before value") this.#beginValue(byte, at);
    else if (this.#mode === "between") this.#beginMember(byte, at);
    else if (this.#mode === "colon" && byte === COLON) this.#mode = "before value";
    else this.#isBroken = true;
    return at + 1;
  }

  #hopOn(bytes: Buffer, at: number): number {
    const end = this.#hop.hop(bytes, at);
    if (end === -1) return bytes.length;
    if (this.#mode === "name") this.#endName(bytes, end);
    else this.#endValue(bytes, end);
    return end;
  }

  #beginValue(byte: number, at: number): void {
    if (byte === OPEN_BRACE && typeof this.#wanted === "object") return this.#openObject(this.#wanted);
    if (typeof this.#wanted === "number") this.#keep(this.#wanted, at);
    else this.#assign(undefined);
    this.#isBroken = !this.#hop.begin(byte);
    this.#mode = "value";
  }

  #openObject(shape: Shape): void {
    const into: Fields = this.#open === null ? this.#fields : {};
    this.#assign(into);
    this.#open = { shape, into, parent: this.#open };
    this.#mode = "between";
  }

  #beginMember(byte: number, at: number): void {
    if (byte === QUOTE) {
      this.#keep(NAME_BYTES, at);
      this.#hop.begin(byte);
      this.#mode = "name";
    } else if (byte === CLOSE_BRACE) {
      this.#open = this.#open?.parent ?? null;
      this.#afterValue();
    } else this.#isBroken = byte !== COMMA;
  }

  #endName(bytes: Buffer, end: number): void {
    const shape = this.#open?.shape ?? {};
    this.#name = this.#takeName(bytes, end, shape);
    this.#wanted = Object.hasOwn(shape, this.#name) ? shape[this.#name] : undefined;
    this.#mode = "colon";
  }

  /** The name if the shape has it, or else any that it has not. Compared where it stands when it can be: 20 ns instead of 200. */
  #takeName(bytes: Buffer, end: number, shape: Shape): string {
    const [from, to] = [this.#keptFrom + 1, end - 1];
    if (this.#kept.isEmpty && isPlain(bytes, from, to)) {
      this.#isKeeping = false;
      return findName(shape, bytes, from, to);
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

  /** Gives the member at hand its value, if it is one that is wanted. */
  #assign(value: unknown): void {
    if (this.#open !== null && this.#wanted !== undefined) this.#open.into[this.#name] = value;
  }

  #keep(limit: number, at: number): void {
    this.#kept.reset(limit);
    this.#isKeeping = true;
    this.#keptFrom = at;
  }

  #takeKept(bytes: Buffer, end: number): unknown {
    const text = this.#kept.finish(bytes, this.#keptFrom, end);
    this.#isKeeping = false;
    if (text === null || this.#hop.deepest > KEPT_DEPTH) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      this.#isBroken = true;
      return undefined;
    }
  }
}

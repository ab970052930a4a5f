import { advanceEscape, beginEscape, charAfter, stateAfter } from "./escapes.ts";
import { LINE_BREAK, accepts, type KeyPatterns, type PatternElement } from "./key-patterns.ts";

/** The beginning of a pattern has been read. */
interface Prefix {
  /** The element that comes next. */
  element: PatternElement;
  start: number;
}

/** An escape is being read. */
interface Escape {
  /** Its state; 0 while only its first character is being read, which is escaped itself. */
  outer: number;
  /** The state of an escape of one of its characters; 0 outside of one. */
  inner: number;
  /** 2 if any of its characters was escaped, else 1. */
  layers: number;
  /** What had been read where it began. */
  before: readonly Prefix[];
  start: number;
}

const NOTHING: readonly Prefix[] = [];

/**
 * Follows all ways to read a text as a key in layers of escapes, one byte at a time. There are several, because a byte can begin an
 * escape or stand for itself. They are few, because the text must be the beginning of the key in each.
 */
export class SpellingTracker {
  /** How many prefixes and escapes were advanced by a byte: the measure of the work done. */
  work = 0;
  readonly #patterns: KeyPatterns;
  readonly #onFound: (start: number, end: number) => void;
  #prefixes: readonly Prefix[] = NOTHING;
  /** Those with the byte that is being read; null for none. */
  #next: Prefix[] | null = null;
  readonly #escapes: Escape[] = [];
  /** By element: where it is in `#next`, if it is there. */
  readonly #places: Uint32Array;
  #end = 0;

  /** `onFound` gets the range of each key. Ranges may overlap. */
  constructor(patterns: KeyPatterns, onFound: (start: number, end: number) => void) {
    this.#patterns = patterns;
    this.#onFound = onFound;
    this.#places = new Uint32Array(patterns.size);
  }

  /** True while nothing that was read may be the beginning of a key. */
  get isIdle(): boolean {
    return this.#prefixes.length === 0 && this.#escapes.length === 0;
  }

  /** Where a key may have begun that is not complete; infinite when {@link SpellingTracker.isIdle}. */
  get start(): number {
    let first = startOf(this.#prefixes, Infinity);
    for (const { before, start } of this.#escapes) first = Math.min(first, startOf(before, start));
    return first;
  }

  /** Forgets what was read. */
  reset(): void {
    this.#prefixes = NOTHING;
    this.#escapes.length = 0;
  }

  /** Reads a byte that comes from the range of the source from `start` to `end`. */
  read(byte: number, start: number, end: number): void {
    if (this.#patterns.begins[byte] === 0 && this.isIdle) return;
    const before = this.#prefixes;
    this.#end = end;
    this.#take(byte, 0, before, start);
    if (this.#escapes.length > 0) this.#advanceAll(byte);
    const begun = beginEscape(byte);
    if (begun !== 0) {
      this.#escapes.push({ outer: begun, inner: 0, layers: 1, before, start });
      if (this.#patterns.layers === 2)
        this.#escapes.push({ outer: 0, inner: begun, layers: 2, before, start });
    }
    this.#prefixes = this.#next ?? NOTHING;
    this.#next = null;
  }

  /** Advances every escape, and keeps those that continue. */
  #advanceAll(byte: number): void {
    const escapes = this.#escapes;
    const { length } = escapes;
    let kept = 0;
    for (let i = 0; i < length; i += 1) {
      const escape = escapes[i];
      if (escape === undefined || this.#end - escape.start > this.#patterns.maxLength) continue;
      if (this.#advance(escape, byte)) escapes[kept++] = escape;
    }
    // Those that branched off.
    for (let i = length; i < escapes.length; i += 1) {
      const escape = escapes[i];
      if (escape !== undefined) escapes[kept++] = escape;
    }
    if (kept < escapes.length) escapes.length = kept;
  }

  /** Returns whether the escape continues. */
  #advance(escape: Escape, byte: number): boolean {
    this.work += 1;
    const { inner, before, start } = escape;
    if (inner === 0) {
      // None of an escape's characters begins another one, unless it is escaped itself.
      const begun = this.#patterns.layers === 2 ? beginEscape(byte) : 0;
      const next = this.#readOuter(escape, byte, escape.layers);
      escape.inner = begun;
      if (begun !== 0) escape.layers = 2;
      else escape.outer = next;
      return begun !== 0 || next !== 0;
    }
    const step = advanceEscape(inner, byte);
    const char = charAfter(step);
    escape.inner = stateAfter(step);
    if (char === -1) return escape.inner !== 0;
    const next = this.#readOuter(escape, char, 2);
    if (escape.inner === 0) {
      escape.outer = next;
      return next !== 0;
    }
    if (next !== 0) this.#escapes.push({ outer: next, inner: 0, layers: 2, before, start });
    return true;
  }

  /** Advances an escape by a character whose own escape is decoded. Returns its next state; 0 if it ends. */
  #readOuter({ outer, before, start }: Escape, char: number, layers: number): number {
    if (outer === 0) return beginEscape(char);
    const step = advanceEscape(outer, char);
    if (charAfter(step) !== -1) this.#take(charAfter(step), layers, before, start);
    return stateAfter(step);
  }

  /** Takes a character that began at `start`, decoded from so many layers. */
  #take(char: number, layers: number, before: readonly Prefix[], start: number): void {
    for (const prefix of before) {
      const { element } = prefix;
      this.work += 1;
      if (element.layers < layers) continue;
      if (accepts(element, char)) this.#add(element.next, prefix.start);
      else if (element.alphabet[char] === LINE_BREAK) this.#add(element, prefix.start);
    }
    for (const element of this.#patterns.firstsOf[char] ?? []) {
      if (element.layers >= layers) this.#add(element.next, start);
    }
  }

  /** Adds a prefix, or has the one with the same next element begin earlier. */
  #add(element: PatternElement | null, start: number): void {
    if (element === null) {
      this.#onFound(start, this.#end);
      return;
    }
    if (this.#end - start > this.#patterns.maxLength) return;
    const next = (this.#next ??= []);
    const known = next[this.#places[element.index] ?? 0];
    if (known?.element === element) known.start = Math.min(known.start, start);
    else this.#places[element.index] = next.push({ element, start }) - 1;
  }
}

function startOf(prefixes: readonly Prefix[], first: number): number {
  let earliest = first;
  for (const { start } of prefixes) earliest = Math.min(earliest, start);
  return earliest;
}

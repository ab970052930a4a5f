import { beginEscape } from "./escapes.ts";

// What to look for to find a key in any spelling: the key itself, and what it becomes in base64 and as hexadecimal digits.

/** What an alphabet has for a byte that is none of its characters. Above every value, so that no masked value equals it. */
export const NO_CHARACTER = 0x100;

/** What it has for line breaks, which encoders insert. */
export const LINE_BREAK = 0x200;

/** What it has for what people and dumps put between digits: blanks, and in hexadecimal a colon. */
export const SPACING = 0x400;

/** The value of each byte in base64, in both alphabets (RFC 4648 sections 4 and 5). */
export const BASE64 = alphabetOf(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  "-_",
  62,
);

/** The value of each byte as a hexadecimal digit, in either case. */
export const HEX = alphabetOf("0123456789abcdef", "ABCDEF", 10);
HEX[0x3a] = SPACING;

const PLAIN = Uint16Array.from({ length: 256 }, (_, byte) => byte);

/** Adds `others`, whose values begin at `from`. */
function alphabetOf(characters: string, others: string, from: number): Uint16Array {
  const values = new Uint16Array(256).fill(NO_CHARACTER);
  Buffer.from(characters).forEach((byte, value) => (values[byte] = value));
  Buffer.from(others).forEach((byte, value) => (values[byte] = from + value));
  values[0x0a] = LINE_BREAK;
  values[0x0d] = LINE_BREAK;
  values[0x09] = SPACING;
  values[0x20] = SPACING;
  return values;
}

/** One character of a pattern. */
export interface PatternElement {
  /** The element that follows; null for the last of its pattern. */
  next: PatternElement | null;
  /** Among all elements of all patterns. */
  index: number;
  isFirst: boolean;
  alphabet: Uint16Array;
  /** Which bits of a character's value are the key's. The last of base64 may have others, too. */
  mask: number;
  value: number;
  /** In how many layers of escapes it may stand. */
  layers: number;
}

/** The patterns of a key. */
export interface KeyPatterns {
  /** How many layers of escapes are to be decoded. */
  layers: number;
  /** The number of elements. */
  size: number;
  /** The first elements that accept a character, by its code. */
  firstsOf: readonly (readonly PatternElement[])[];
  /** By byte: 1 if it may begin a spelling, as itself or with an escape. */
  begins: Uint8Array;
  /** How long a spelling may be, in bytes. Encoders write shorter ones; it limits what is held back of a stream. */
  maxLength: number;
  /** The fewest digits that can stand for the key. */
  minBase64: number;
  minHex: number;
}

/**
 * Prepares the patterns of a key that is found in `layers` layers of escapes, or in base64 or hexadecimal digits in one layer
 * less.
 */
export function buildPatterns(key: string, layers: number): KeyPatterns {
  const bytes = Buffer.from(key, "latin1");
  const patterns = [
    elementsOf(
      [...bytes].map((value) => [0xff, value]),
      PLAIN,
      layers,
    ),
    elementsOf(
      [...bytes].flatMap((byte) => [
        [0xf, byte >> 4],
        [0xf, byte & 0xf],
      ]),
      HEX,
      layers - 1,
    ),
    // The key begins with the first, second or third of the three bytes that four characters stand for.
    ...[0, 1, 2].map((before) => elementsOf(sextetsOf(bytes, before), BASE64, layers - 1)),
  ];
  const elements = patterns.flat();
  elements.forEach((element, index) => (element.index = index));
  const firsts = elements.filter(({ isFirst }) => isFirst);
  const firstsOf = Array.from({ length: 256 }, (_, byte) => firsts.filter((first) => accepts(first, byte)));
  return {
    layers,
    size: elements.length,
    firstsOf,
    begins: Uint8Array.from(firstsOf, (found, byte) => (found.length > 0 || beginEscape(byte) !== 0 ? 1 : 0)),
    maxLength: bytes.length * MAX_CHARACTER_LENGTH,
    minBase64: Math.floor((bytes.length * 8) / 6),
    minHex: bytes.length * 2,
  };
}

/** Longer than a character in two layers of escapes: `&#x00000026;`, each of whose characters is written like that. */
const MAX_CHARACTER_LENGTH = 256;

const NOT_A_VALUE = NO_CHARACTER | LINE_BREAK | SPACING;

/** True for a byte that an element may stand for. */
export function accepts({ alphabet, mask, value }: PatternElement, byte: number): boolean {
  return ((alphabet[byte] ?? NO_CHARACTER) & (mask | NOT_A_VALUE)) === value;
}

type MaskedValue = [mask: number, value: number];

function elementsOf(values: readonly MaskedValue[], alphabet: Uint16Array, layers: number): PatternElement[] {
  const elements = values.map(([mask, value], i): PatternElement => {
    return { next: null, index: 0, isFirst: i === 0, alphabet, mask, value, layers };
  });
  elements.forEach((element, i) => (element.next = elements[i + 1] ?? null));
  return elements;
}

/**
 * The values of the characters of base64 that have bits of the key when `before` bytes precede it, with a mask of those bits. The
 * first is left out if it also has bits of what precedes the key: too many characters would match it.
 */
function sextetsOf(key: Buffer, before: number): MaskedValue[] {
  const digits = Buffer.from(Buffer.concat([Buffer.alloc(before), key]).toString("base64url"));
  const lastBits = ((before + key.length) * 8) % 6;
  const lastMask = lastBits === 0 ? 0x3f : 0x3f & (0x3f << (6 - lastBits));
  const own = [...digits.subarray(Math.ceil((before * 8) / 6))];
  return own.map((digit, i) => [i === own.length - 1 ? lastMask : 0x3f, BASE64[digit] ?? 0]);
}

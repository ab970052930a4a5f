// Reads the escapes of JSON, URLs and HTML one character at a time. A state is a small number, because there are many at once.

/**
 * What a character did to an escape: the state to continue with in the lower 16 bits, 0 if there is none; and above them the
 * character that the escape stands for plus one, 0 if there is none yet. Both at once where an escape may end here or go on.
 */
type Step = number;

const STATE_BITS = 16;
const STATE_MASK = (1 << STATE_BITS) - 1;
const KIND_BITS = 12;

/** A fixed count of hexadecimal digits: `%2D`, `\u002D`, and `\x2D`, which is in many logs. */
const FIXED = 1;
const BACKSLASH = 2;
/** Behind `&#`. */
const NUMBER_SIGN = 3;
const DECIMAL = 4;
const HEXADECIMAL = 5;
/** Within a name of HTML, with the node of {@link NAMES}. The root is what `&` begins. */
const NAMED = 6;

/** How far the digits of a numeric character reference are counted. HTML sets no limit to leading zeros. */
const MAX_COUNT = 0xf;

const MAX_ASCII = 0x7e;

const [BELL, NEWLINE, RETURN, TAB] = [0x08, 0x0a, 0x0d, 0x09];
const [PERCENT, AMPERSAND, SLASH, SEMICOLON, HASH] = [0x25, 0x26, 0x5c, 0x3b, 0x23];

/** Returns the state behind a character that begins an escape, else 0. */
export function beginEscape(char: number): number {
  if (char === PERCENT) return stateOf(FIXED, 2, 0);
  if (char === SLASH) return stateOf(BACKSLASH, 0, 0);
  return char === AMPERSAND ? stateOf(NAMED, 0, 0) : 0;
}

/** Reads the next character of an escape. */
export function advanceEscape(state: number, char: number): Step {
  const count = (state >> 8) & 0xf;
  const value = state & 0xff;
  switch (state >> KIND_BITS) {
    case FIXED:
      return addFixed(count, value, digitOf(char, 16));
    case BACKSLASH:
      return readBackslash(char);
    case NUMBER_SIGN:
      if ((char | 0x20) === 0x78) return stateOf(HEXADECIMAL, 0, 0);
      return addDigit(DECIMAL, 10, 0, 0, char);
    case DECIMAL:
      return addDigit(DECIMAL, 10, count, value, char);
    case HEXADECIMAL:
      return addDigit(HEXADECIMAL, 16, count, value, char);
    default:
      return readName(state & ((1 << KIND_BITS) - 1), char);
  }
}

/** The state to continue with; 0 if there is none. */
export function stateAfter(step: Step): number {
  return step & STATE_MASK;
}

/** The character that the escape stands for if it ends here; -1 if it does not. */
export function charAfter(step: Step): number {
  return (step >> STATE_BITS) - 1;
}

function stateOf(kind: number, count: number, value: number): number {
  return (kind << KIND_BITS) | (count << 8) | value;
}

function standsFor(char: number, state: number): Step {
  return ((char + 1) << STATE_BITS) | state;
}

function addFixed(left: number, value: number, digit: number): Step {
  const sum = value * 16 + digit;
  if (digit < 0 || sum > MAX_ASCII) return 0;
  return left === 1 ? standsFor(sum, 0) : stateOf(FIXED, left - 1, sum);
}

/** RFC 8259 section 7. PHP writes `\/`, and JavaScript reads any other character behind a backslash as itself. */
function readBackslash(char: number): Step {
  switch (String.fromCharCode(char)) {
    case "u":
      return stateOf(FIXED, 4, 0);
    case "x":
      return stateOf(FIXED, 2, 0);
    case "n":
      return standsFor(NEWLINE, 0);
    case "r":
      return standsFor(RETURN, 0);
    case "t":
      return standsFor(TAB, 0);
    case "b":
    case "f":
      return standsFor(BELL, 0);
    default:
      return standsFor(char, 0);
  }
}

/** Browsers also read a reference that has no semicolon, so it may end with any digit. */
function addDigit(kind: number, radix: number, count: number, value: number, char: number): Step {
  if (char === SEMICOLON) return count === 0 ? 0 : standsFor(value, 0);
  const digit = digitOf(char, radix);
  const sum = value * radix + digit;
  if (digit < 0 || sum > MAX_ASCII) return 0;
  return standsFor(sum, stateOf(kind, Math.min(count + 1, MAX_COUNT), sum));
}

function digitOf(char: number, radix: number): number {
  const digit = char >= 0x61 ? char - 0x57 : char >= 0x41 ? char - 0x37 : char - 0x30;
  const isDigit = char >= 0x41 ? digit >= 10 : digit < 10;
  return isDigit && digit >= 0 && digit < radix ? digit : -1;
}

function readName(node: number, char: number): Step {
  const { char: named, next } = NAMES[node] ?? NO_NAME;
  if (node === 0 && char === HASH) return stateOf(NUMBER_SIGN, 0, 0);
  if (char === SEMICOLON) return named === null ? 0 : standsFor(named, 0);
  const below = next.get(char);
  if (below === undefined) return 0;
  const state = (NAMED << KIND_BITS) | below;
  const complete = NAMES[below]?.char ?? null;
  return complete === null ? state : standsFor(complete, state);
}

/** A beginning of a name: what it stands for if it is a whole one, and the nodes behind it by the next character. */
interface NameNode {
  char: number | null;
  next: Map<number, number>;
}

const NO_NAME: NameNode = { char: null, next: new Map() };

/**
 * The named character references of ASCII (HTML, section 13.5), each character followed by its names. Letters, digits, `-` and `~`
 * have none.
 */
const NAMES_OF_CHARACTERS = [
  "! excl",
  '" quot QUOT',
  "# num",
  "$ dollar",
  "% percnt",
  "& amp AMP",
  "' apos",
  "( lpar",
  ") rpar",
  "* ast midast",
  "+ plus",
  ", comma",
  ". period",
  "/ sol",
  ": colon",
  "; semi",
  "< lt LT",
  "= equals",
  "> gt GT",
  "? quest",
  "@ commat",
  "[ lsqb lbrack",
  "\\ bsol",
  "] rsqb rbrack",
  "^ Hat",
  "_ lowbar UnderBar",
  "` grave DiacriticalGrave",
  "{ lcub lbrace",
  "| verbar vert VerticalLine",
  "} rcub rbrace",
];

const NAMES: readonly NameNode[] = buildNames();

function buildNames(): NameNode[] {
  const nodes: NameNode[] = [{ char: null, next: new Map() }];
  for (const line of NAMES_OF_CHARACTERS) {
    const [char = "", ...names] = line.split(" ");
    for (const name of names) {
      let node = nodes[0] ?? NO_NAME;
      for (const letter of Buffer.from(name)) {
        const known = node.next.get(letter);
        const at = known ?? nodes.length;
        if (known === undefined) {
          node.next.set(letter, at);
          nodes.push({ char: null, next: new Map() });
        }
        node = nodes[at] ?? NO_NAME;
      }
      node.char = char.charCodeAt(0);
    }
  }
  return nodes;
}

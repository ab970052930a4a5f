import * as fc from "fast-check";

// Spells keys as services may echo them, and decodes texts in every way that could give a key back.

/** A key of printable ASCII. Few have marks that begin an escape. */
export const anyKey: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^sk-[\w.~+/=-]{8,40}$/) },
  { weight: 1, arbitrary: fc.stringMatching(/^[!-)+-~]{10,30}$/) },
);

/** One step of an encoder. */
export type Encoding = (text: string) => string;

/** The bytes that an encoder finds around the key: `Bearer `, `user:`, or anything else without letters and digits. */
const around = fc.oneof(fc.constantFrom("", "Bearer ", "user:"), fc.stringMatching(/^[ ,:;!()]{0,4}$/));

/** How one character may be written. The number picks one of them. */
function spellCharacter(char: string, way: number): string {
  const code = char.charCodeAt(0);
  const hex = code.toString(16).padStart(2, "0");
  const ways = [
    char,
    `\\u00${hex}`,
    `\\u00${hex.toUpperCase()}`,
    `%${hex}`,
    `%${hex.toUpperCase()}`,
    `&#${code};`,
    `&#0${code};`,
    `&#x${hex};`,
    `&#X00${hex.toUpperCase()};`,
    `\\x${hex}`,
    /[\w]/.test(char) ? char : `\\${char}`,
    NAMES[char] ?? char,
  ];
  return ways[way % ways.length] ?? char;
}

const NAMES: Record<string, string> = {
  "&": "&amp;",
  "%": "&percnt;",
  "\\": "&bsol;",
  "+": "&plus;",
  "/": "&sol;",
  "=": "&equals;",
  _: "&lowbar;",
  ".": "&period;",
  ";": "&semi",
  "#": "&num;",
};

/** Escapes each character in its own way, or all of them in the same one. */
const escapes: fc.Arbitrary<Encoding> = fc
  .oneof(
    fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
    fc.nat().map((way) => [way]),
    // A service escapes what it must, and leaves letters and digits.
    fc.nat().map((way) => [way, -1]),
  )
  .map(
    (ways) => (text) =>
      text
        .split("")
        .map((char, i) =>
          ways[1] === -1 && /[A-Za-z0-9]/.test(char)
            ? char
            : spellCharacter(char, Math.abs(ways[ways[1] === -1 ? 0 : i % ways.length] ?? 0)),
        )
        .join(""),
  );

const base64: fc.Arbitrary<Encoding> = fc
  .tuple(around, around, fc.constantFrom("base64", "base64url"), fc.boolean())
  .map(([before, after, alphabet, isWrapped]) => (text) => {
    const digits = Buffer.from(before + text + after, "latin1").toString(alphabet);
    return isWrapped ? digits.replace(/.{76}/g, "$&\r\n") : digits;
  });

const hex: fc.Arbitrary<Encoding> = fc.tuple(around, fc.boolean()).map(([before, isUpper]) => (text) => {
  const digits = Buffer.from(before + text, "latin1").toString("hex");
  return isUpper ? digits.toUpperCase() : digits;
});

/** Zero, one or two steps. */
export const encodings: fc.Arbitrary<Encoding[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: escapes },
    { weight: 2, arbitrary: base64 },
    { weight: 1, arbitrary: hex },
  ),
  { maxLength: 2 },
);

type Decoder = (text: string) => string[];

const fromCode = (code: number) => (code < 256 ? String.fromCharCode(code) : "?");
const JSON_ESCAPE = String.raw`\\(?:u00|x)(?<json>[\da-f]{2})|\\(?<lax>[^ux])`;
const URL_ESCAPE = `%(?<url>[\\da-f]{2})`;
const HTML_ESCAPE = `&#(?<decimal>\\d{1,9});?|&#x(?<hex>[\\da-f]{1,9});?|&(?<name>[a-z]+);?`;

function unescaping(pattern: string): Decoder {
  const escape = new RegExp(pattern, "gi");
  return (text) => [
    text.replace(escape, (whole: string, ...parts: unknown[]) => {
      const found = parts.at(-1) as Record<string, string | undefined>;
      if (found["lax"] !== undefined) return found["lax"];
      if (found["decimal"] !== undefined) return fromCode(Number(found["decimal"]));
      if (found["name"] !== undefined)
        return (
          Object.entries(NAMES).find(([, name]) => name.replace(";", "") === `&${found["name"]}`)?.[0] ??
          whole
        );
      return fromCode(Number.parseInt(found["json"] ?? found["url"] ?? found["hex"] ?? "", 16));
    }),
  ];
}

const DECODERS: readonly Decoder[] = [
  unescaping(JSON_ESCAPE),
  unescaping(URL_ESCAPE),
  unescaping(HTML_ESCAPE),
  unescaping([JSON_ESCAPE, URL_ESCAPE, HTML_ESCAPE].join("|")),
  decodingRuns(/[\w+/\r\n-]{8,}/g, "base64", 4),
  decodingRuns(/[\da-f\r\n]{16,}/gi, "hex", 2),
];

/** Decodes each run of digits from each place in a group. */
function decodingRuns(runs: RegExp, encoding: BufferEncoding, group: number): Decoder {
  return (text) =>
    [...text.matchAll(runs)].flatMap(([run]) => {
      const digits = run.replaceAll(/[\r\n]/g, "");
      return Array.from({ length: group }, (_, from) =>
        Buffer.from(digits.slice(from), encoding).toString("latin1"),
      );
    });
}

/** Everything that a text can be decoded to in at most `steps` steps. */
export function decodings(text: string, steps: number): string[] {
  if (steps === 0) return [text];
  return [
    text,
    ...DECODERS.flatMap((decode) => decode(text)).flatMap((decoded) => decodings(decoded, steps - 1)),
  ];
}

/** Replaces the key where it is as it is, also where it overlaps with itself. */
export function redactSimply(text: string, value: string): string {
  const redacted = text.split("");
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    redacted.fill("*", at, at + value.length);
  }
  return redacted.join("");
}

/** Replaces what may be redacted with a key, or not: the beginning of an escape of JSON that its first character could belong to. */
export function redactEscapes(text: string): string {
  return text.replaceAll(/(?:\\+(?:u[^]{0,3})?)(?=\*)/g, (escape) => "*".repeat(escape.length));
}

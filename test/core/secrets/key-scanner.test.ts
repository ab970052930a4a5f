import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyScanner, prepareKey } from "../../../src/core/secrets/key-scanner.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const KEY = "sk-lab-7Gq_x~Zp4Lw3.K9/d+R2==";
const secret = new Secret(KEY);

const hex = Buffer.from(KEY).toString("hex");
const base64 = (text: string) => Buffer.from(text).toString("base64");
const base64url = (text: string) => Buffer.from(text).toString("base64url");
const eachAs = (spell: (code: number, hex: string) => string) => (text: string) =>
  [...Buffer.from(text, "latin1")].map((code) => spell(code, code.toString(16).padStart(2, "0"))).join("");
const inJson = eachAs((_, digits) => `\\u00${digits}`);
const inUrl = eachAs((_, digits) => `%${digits.toUpperCase()}`);
const inHtml = eachAs((code) => `&#${code};`);

/** A spelling by what it is, with what must replace all of it. */
const SPELLINGS: Record<string, string> = {
  "as it is": KEY,
  "marks in JSON": KEY.replaceAll("-", "\\u002D").replaceAll("/", "\\/").replaceAll("=", "\\u003d"),
  "everything in JSON": inJson(KEY),
  "letters, digits, _ and ~ in JSON": KEY.replace("G", "\\u0047")
    .replace("7", "\\u0037")
    .replace("_", "\\u005f")
    .replace("~", "\\u007E"),
  "marks in a URL": KEY.replaceAll("-", "%2D").replaceAll("/", "%2f"),
  "everything in a URL": inUrl(KEY),
  "a URL that was encoded twice": inUrl(KEY).replaceAll("%", "%25"),
  "a URL whose escapes were encoded for JSON": KEY.replaceAll("-", "\\u0025\\u0032\\u0044"),
  "JSON in a URL": KEY.replaceAll("-", "%5Cu002D"),
  "JSON in JSON": KEY.replaceAll("-", "\\\\u002D"),
  "decimal references": inHtml(KEY),
  "decimal references without semicolons": KEY.replaceAll("-", "&#45").replaceAll("_", "&#095"),
  "hexadecimal references": KEY.replaceAll("-", "&#x2d;").replaceAll("_", "&#X005F;"),
  "named references": KEY.replaceAll("_", "&lowbar;")
    .replaceAll("/", "&sol;")
    .replaceAll("+", "&plus")
    .replaceAll(".", "&period;"),
  "references in HTML that was encoded twice": KEY.replaceAll("-", "&amp;#45;"),
  "references in a URL": KEY.replaceAll("-", "%26%2345%3B"),
  "several escapes in one text": KEY.replace("-", "\\u002D")
    .replace("-", "%2d")
    .replace("_", "&#95;")
    .replace("/", "%252F"),
  "escapes of logs": KEY.replaceAll("-", "\\x2d"),
  "hexadecimal digits": hex,
  "upper-case hexadecimal digits": hex.toUpperCase(),
  base64: base64(KEY),
  base64url: base64url(KEY),
  "base64 of `Bearer KEY`": base64(`Bearer ${KEY}`),
  "base64 of `user:KEY`": base64(`user:${KEY}`),
  "base64 of `me:KEY`": base64(`me:${KEY}`),
  "base64url of `a:KEY:b`": base64url(`a:${KEY}:b`),
  "base64 in lines": base64(`Authorization: Basic ${KEY} ${KEY}`).replace(/.{20}/g, "$&\r\n"),
  "base64 in lines that are indented": base64(`Authorization: Basic ${KEY} ${KEY}`).replace(
    /.{20}/g,
    "$&\r\n\t  ",
  ),
  "base64 in a URL": inUrl(base64(`:${KEY}`)),
  "base64 in lines of JSON": base64(`::${KEY}`)
    .replace(/.{20}/g, "$&\\n")
    .replaceAll("/", "\\/")
    .replaceAll("=", "\\u003D"),
  "base64 of base64": base64(base64(`x${KEY}`)),
  "base64 of hexadecimal digits": base64(hex),
  "base64 of JSON": base64(`{"key":"${inJson(KEY)}"}`),
  "base64 of a URL": base64url(`https://example.com/?key=${KEY.replaceAll("-", "%2D")}`),
  "hexadecimal digits in pairs": hex.replace(/..\B/g, "$& "),
  "hexadecimal digits between colons": hex.replace(/..\B/g, "$&:"),
  "hexadecimal digits of JSON in pairs and lines": Buffer.from(inJson(KEY))
    .toString("hex")
    .replace(/..\B/g, "$& ")
    .replace(/.{48}/g, "$&\n"),
  "references with many zeros": KEY.replaceAll("-", `&#${"0".repeat(40)}45;`).replaceAll(
    "_",
    `&#x${"0".repeat(40)}5f;`,
  ),
  "hexadecimal digits of base64": Buffer.from(base64(KEY)).toString("hex"),
  "hexadecimal digits of JSON": Buffer.from(inJson(KEY)).toString("hex"),
  "hexadecimal digits of hexadecimal digits": Buffer.from(hex).toString("hex"),
};

/** Marks that belong to no spelling. */
const BEFORE = `{"message": "no such key: `;
const AFTER = ` (see the docs)"}`;

/** Finds the ranges of a key in a text that comes in pieces of so many bytes. */
function scan(text: string, size: number): { found: string; heldAfterwards: number } {
  const bytes = Buffer.from(text, "latin1");
  const mask = text.split("");
  const scanner = new KeyScanner(prepareKey(KEY), (start, end) => mask.fill("*", start, end));
  let held = 0;
  for (let end = size; end - size < bytes.length; end += size) {
    const piece = bytes.subarray(held, end);
    scanner.read(piece, end - size - held);
    assert.ok(scanner.start >= held);
    held = scanner.start;
  }
  const heldAfterwards = bytes.length - held;
  scanner.end();
  return { found: mask.join(""), heldAfterwards };
}

for (const [what, spelling] of Object.entries(SPELLINGS)) {
  test(`finds a key in this spelling, in pieces of any size: ${what}`, () => {
    const text = BEFORE + spelling + AFTER;
    const expected = secret.redactText(text);
    assert.equal(expected.length, text.length);
    assert.ok(expected.startsWith(BEFORE) && expected.endsWith(AFTER), expected);
    const inside = expected.slice(BEFORE.length, -AFTER.length);
    // In base64 the characters of what surrounds the key stay.
    assert.match(inside.replaceAll(/[\r\n]/g, ""), /^[^*]{0,40}\*{28,}[^*]{0,30}$/);
    assert.ok(secret.isIn(text));
    for (let size = 1; size < 12; size += 1)
      assert.deepEqual(scan(text, size), { found: expected, heldAfterwards: 0 });
  });
}

test("finds a key in lines of base64 behind any number of other lines", () => {
  // Around the length at which what is read so far may no longer be held back.
  const limit = Math.ceil((256 * KEY.length * 57) / 78);
  for (let padding = limit - 100; padding <= limit + 100; padding += 10) {
    const lines = base64("x".repeat(padding) + inUrl(KEY)).replace(/.{76}/g, "$&\r\n");
    for (const text of [lines, lines.replaceAll("\n", "\n    ")]) {
      const { found, heldAfterwards } = scan(text, 997);
      assert.ok(heldAfterwards < 10);
      const [before = "", ...others] = found.replaceAll(/\s/g, "").split(/\*+/);
      assert.ok(before.length >= (padding / 3) * 4 - 4, "what precedes the key stays");
      assert.ok(found.includes("***") && others.join("").length < 10, `${padding} bytes in front of the key`);
    }
  }
});

test("finds no key in a text that lacks one character of it, in no spelling", () => {
  for (const spelling of Object.values(SPELLINGS)) {
    const one = new Secret(`${KEY}7`);
    assert.equal(one.redactText(BEFORE + spelling + AFTER), BEFORE + spelling + AFTER);
  }
});

test("a range never begins within an escape of JSON, so that what replaces it leaves JSON", () => {
  const key = "nab01234cdef";
  for (const text of [
    `"\\${key}"`,
    `"\\\\${key}"`,
    `"\\u00${key.slice(1)}"`,
    `"\\n${Buffer.from(key).toString("base64")}"`,
  ]) {
    const own = new Secret(text.includes(key) || !text.includes("u00") ? key : key.slice(1));
    const redacted = own.redactText(text);
    assert.notEqual(redacted, text);
    assert.doesNotThrow(() => void JSON.parse(redacted), redacted);
  }
});

/** Texts that a hostile upstream sends to keep the scanner busy, by the bytes that it repeats. */
const HOSTILE = [
  "\\u002D",
  "%25",
  "%2525",
  "\\u005c",
  "\\\\",
  "\\u0025",
  "&#x00",
  "&#0",
  "&#00000000000",
  "&amp;",
  "&amp",
  "&#38;#38;",
  "&#&#51;&#53;",
  "%26%23",
  "&Diacritical",
  "%5Cu00",
  KEY.slice(0, -1),
  inJson(KEY.slice(0, -1)),
  inUrl(KEY.slice(0, -1)),
  base64(KEY.slice(0, -2)),
  base64(base64(KEY.slice(0, -2))),
  hex.slice(0, -2),
  "c2st",
  "73",
  "QQ",
  "A",
  "s",
  "c2s\r\n",
  "c2s\n  ",
  "7 3",
  "73 6b ",
  "73:6b:",
  hex.slice(0, -2).replaceAll(/../g, "$& "),
  `&#${"0".repeat(200)}`,
];

test("the work for a hostile text grows with its length only, and what is held back of it is bounded", () => {
  const longest = KEY.length * 256;
  for (const unit of HOSTILE) {
    const text = Buffer.from(unit.repeat(Math.ceil(40_000 / unit.length)), "latin1");
    const scanner = new KeyScanner(prepareKey(KEY), () => {});
    scanner.read(text, 0);
    assert.ok(scanner.work < text.length * MAX_WORK, `${unit}: ${scanner.work / text.length} for a byte`);
    assert.ok(text.length - scanner.start <= longest, `${unit}: ${text.length - scanner.start} held back`);
  }
});

/** For each byte: how many readings of the text so far may be alive. */
const MAX_WORK = 10;

test("what may be the beginning of a key is not held back for ever", () => {
  const longest = KEY.length * 256;
  for (const [begin, endless] of [
    ["c2st", "\n"],
    ["sk-", "&#0000000000"],
    [base64(KEY).slice(0, -2), "\r\n"],
    [hex.slice(0, 20), "\n"],
    [hex.slice(0, 20), " "],
    [hex.slice(0, -2), ":"],
    [base64(`${" ".repeat(60)}${KEY}`).slice(0, -2), "\n\t"],
    ["sk-&#", "0"],
    ["sk-&amp;#x", "0"],
  ] as const) {
    const text = Buffer.from(begin + endless.repeat(20_000));
    const scanner = new KeyScanner(prepareKey(KEY), () => {});
    scanner.read(text, 0);
    assert.ok(text.length - scanner.start <= longest + 1, `${text.length - scanner.start} held back`);
  }
});

test("nothing is held back of a text that cannot be the beginning of a key", () => {
  for (const text of [
    `event: error\ndata: {"a":1}\n\n`,
    `{"error": {"message": "no such key"}}`,
    "50 % off & more \\n done.",
  ]) {
    const scanner = new KeyScanner(prepareKey(KEY), () => {});
    scanner.read(Buffer.from(text), 0);
    assert.equal(scanner.start, text.length, text);
  }
});

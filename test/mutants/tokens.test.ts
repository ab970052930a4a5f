import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenize } from "./tokens.ts";

const textsOf = (code: string) => tokenize(code)?.map(({ text }) => text);

test("code is split into names, literals and punctuation, without whitespace and comments", () => {
  assert.deepEqual(textsOf('const a_1 = x?.y ?? 0x1F; // "rest"\n/* {\n */ b >>>= "\\"c"'), [
    "const",
    "a_1",
    "=",
    "x",
    "?.",
    "y",
    "??",
    "0x1F",
    ";",
    "b",
    ">>>=",
    '"\\"c"',
  ]);
});

test("a token has its offsets, and whether and how it can be renamed", () => {
  assert.deepEqual(tokenize("  this.#a.b = c"), [
    { kind: "fixed", text: "this", start: 2, end: 6 },
    { kind: "fixed", text: ".", start: 6, end: 7 },
    { kind: "private", text: "#a", start: 7, end: 9 },
    { kind: "fixed", text: ".", start: 9, end: 10 },
    { kind: "property", text: "b", start: 10, end: 11 },
    { kind: "fixed", text: "=", start: 12, end: 13 },
    { kind: "name", text: "c", start: 14, end: 15 },
  ]);
});

test("a template is split at its expressions, which may contain braces and templates", () => {
  assert.deepEqual(
    textsOf("`a \\` ${b({ c: `${d}` })} $ {e}`")?.join(" "),
    "`a \\` ${ b ( { c : `${ d }` } ) } $ {e}`",
  );
});

test("a slash is a division after a value, and starts a regular expression elsewhere", () => {
  assert.equal(textsOf("a/b/2+c()/d")?.join(" "), "a / b / 2 + c ( ) / d");
  assert.equal(
    textsOf(String.raw`f(/[/"]\//g)||/x/.test(a)`)?.join(" "),
    String.raw`f ( /[/"]\//g ) || /x/ . test ( a )`,
  );
  assert.equal(textsOf("return/x/;")?.join(" "), "return /x/ ;");
});

test("a fragment may leave brackets open, but not a string or a template", () => {
  assert.deepEqual(textsOf("} else if (a"), ["}", "else", "if", "(", "a"]);
  assert.equal(tokenize('says "so'), null);
  assert.equal(tokenize("`${a"), null);
  assert.equal(tokenize("a`, b"), null);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { toPrintable, toPrintableLines } from "../../../src/core/text/printable.ts";

test("escapes controls, bidirectional marks and line separators", () => {
  const text = "\u0000\t\n\r\u001b\u007f\u0080\u009f\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028\u2029";
  assert.match(toPrintable(text), /^(?:\\u[0-9a-f]{4}){17}$/);
  assert.equal(JSON.parse(`"${toPrintable(text)}"`), text);
});

test("keeps letters of any script, and emoji with joiners", () => {
  const text = 'aé中ع👩\u200d💻 "\\';
  assert.equal(toPrintable(text), text);
});

test("escapes lone surrogates, which UTF-8 cannot encode, and keeps surrogate pairs", () => {
  assert.equal(toPrintable("\ud800a\udc00\ud83d\ude00"), "\\ud800a\\udc00\ud83d\ude00");
});

test("keeps the line feeds and tabs of several lines, and escapes all other controls", () => {
  assert.equal(toPrintableLines("a\n\u001b[2J\r\n\tb\tc\u000b"), "a\n\\u001b[2J\\u000d\n\tb\tc\\u000b");
});

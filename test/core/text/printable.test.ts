import assert from "node:assert/strict";
import { test } from "node:test";
import { printable, printableLines } from "../../../src/core/text/printable.ts";

test("controls, bidirectional marks and line separators are written out", () => {
  const text = "\u0000\t\n\r\u001b\u007f\u0080\u009f\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028\u2029";
  assert.match(printable(text), /^(?:\\u[0-9a-f]{4}){17}$/);
  assert.equal(JSON.parse(`"${printable(text)}"`), text);
});

test("everything else stays: letters of any script, emoji with joiners", () => {
  const text = 'aé中ع👩\u200d💻 "\\';
  assert.equal(printable(text), text);
});

test("half a surrogate pair, which UTF-8 cannot carry, is written out, and a whole one stays", () => {
  assert.equal(printable("\ud800a\udc00\ud83d\ude00"), "\\ud800a\\udc00\ud83d\ude00");
});

test("of several lines the line feeds stay, and nothing else", () => {
  assert.equal(printableLines("a\n\u001b[2J\r\nb"), "a\n\\u001b[2J\\u000d\nb");
});

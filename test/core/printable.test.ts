import assert from "node:assert/strict";
import { test } from "node:test";
import { printable } from "../../src/core/printable.ts";

test("controls, bidirectional marks and line separators are written out", () => {
  const text = "\u0000\t\n\r\u001b\u007f\u0080\u009f\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028\u2029";
  assert.match(printable(text), /^(?:\\u[0-9a-f]{4}){17}$/);
  assert.equal(JSON.parse(`"${printable(text)}"`), text);
});

test("everything else stays: letters of any script, emoji with joiners, lone surrogates", () => {
  const text = 'aé中ع👩\u200d💻 "\\\ud800';
  assert.equal(printable(text), text);
});

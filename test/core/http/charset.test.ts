import assert from "node:assert/strict";
import { test } from "node:test";
import { foreignCharset } from "../../../src/core/http/charset.ts";

test("UTF-8 in any spelling, and no charset at all, are what JSON is", () => {
  for (const type of [
    "application/json",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/json; charset=utf8 ; profile=x",
  ]) {
    assert.equal(foreignCharset(type), null, type);
  }
});

test("every other word about a charset is foreign", () => {
  for (const [type, charset] of [
    ["application/json; charset=utf-7", "charset=utf-7"],
    ["application/json; charset=utf-8; charset=utf-7", "charset=utf-7"],
    ["application/json; charset=utf-7; charset=utf-8", "charset=utf-7"],
    ["application/json; CHARSET=UTF-16", "CHARSET=UTF-16"],
    ["application/json; charset*=utf-8''utf-7", "charset*=utf-8''utf-7"],
    ["application/json; charset=utf-8x", "charset=utf-8x"],
    ["application/json; charset = utf-8", "charset = utf-8"],
    ["application/json; charset", "charset"],
  ] as const) {
    assert.equal(foreignCharset(type), charset, type);
  }
});

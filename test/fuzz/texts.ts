import assert from "node:assert/strict";
import { validateHeaderValue } from "node:http";
import * as fc from "fast-check";
import { readBaseUrl } from "../../src/core/base-url.ts";
import { Failure } from "../../src/core/failure.ts";
import { credentialHeader } from "../../src/core/headers.ts";
import { MAX_KEY_LENGTH, parseKeyValue } from "../../src/core/key-value.ts";
import { printable } from "../../src/core/printable.ts";
import { parseSince } from "../../src/core/since.ts";
import { property, type Property } from "./property.ts";
import { words } from "./words.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom(
      "\u0000",
      "\ud800",
      "\udc00",
      "\t",
      "\u007f",
      "\u0085",
      "\u200f",
      "\u2028",
      "\u2066",
      '"',
      "\\",
      "a",
    ),
  }),
);

/**
 * Code points, first to last, that act on a terminal or cannot be written: C0 and C1 controls, marks of direction,
 * separators of lines (facts/threats.md E3), halves of surrogate pairs.
 */
const ACTIVE = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x61c, 0x61c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
  [0xd800, 0xdfff],
] as const;

function isActive(text: string): boolean {
  return Array.from(text, (char) => char.codePointAt(0) ?? 0).some((code) =>
    ACTIVE.some(([first, last]) => first <= code && code <= last),
  );
}

const spanOrDay = fc.oneof(
  anyText,
  fc.constantFrom(
    "today",
    "0d",
    "7d",
    "24h",
    "36500d",
    "36501d",
    "876000h",
    "2024-02-29",
    "2023-02-29",
    "2026-13-01",
  ),
  fc.stringMatching(/^\d{1,7}[dhm]$/),
  fc.stringMatching(/^[0-2]\d{3}-[01]\d-[0-3]\d$/),
);

const scheme = oneOf("https:// https:// http:// HTTPS:// ftp:// //");
const host =
  oneOf(`api.example.com api.example.com 127.0.0.1 127.1 0x7f.1 localhost LOCALHOST [::1] evil.example
  127.0.0.1.evil.example 127.evil.example user:pw@api.example.com localhost@evil.example xn-- \u00e9.example`);
const port = oneOf(":443 :8080 :99999 :");
const path = oneOf(
  "/v1 /v1/ /api/v1 / /v1/messages /v1/../x /./v1 /a//v1 /%76%31 /v1%2f \\v1 /v1; /v1/sk-abc",
);
const end = fc.constantFrom("?a=b", "#x", "?", " ", "\n", "/");
const nothing = fc.constant("");

function oneOf(text: string): fc.Arbitrary<string> {
  return fc.constantFrom(...words(text));
}

const url = fc
  .tuple(scheme, host, fc.oneof(nothing, port), fc.oneof(nothing, path, path), fc.oneof(nothing, end))
  .map((parts) => parts.join(""));

/** The failure that a call ends in; null when it does not. */
function failureOf(call: () => unknown): Failure | null {
  try {
    call();
    return null;
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    return error;
  }
}

export const TEXTS: readonly Property[] = [
  property(
    "printable: nothing active is left, nothing else is touched, and JSON means what it meant",
    { batch: 500 },
    fc.property(anyText, (text) => {
      const shown = printable(text);
      assert.ok(!isActive(shown));
      assert.equal(printable(shown), shown);
      if (!isActive(text)) assert.equal(shown, text);
      assert.equal(JSON.parse(printable(JSON.stringify(text))), text);
    }),
  ),
  property(
    "since: any text is a time in the past hundred years, a day as it was written, or a failure with a hint",
    { batch: 500 },
    fc.property(
      spanOrDay,
      fc.date({ min: new Date("2020-01-01"), max: new Date("2090-01-01"), noInvalidDate: true }),
      (text, now) => {
        const failure = failureOf(() => parseSince(text, now.getTime()));
        if (failure !== null) return assert.notEqual(failure.hint ?? "", "");
        const since = parseSince(text, now.getTime());
        assert.equal(new Date(since).toISOString(), since);
        if (/^\d{4}-/.test(text)) assert.equal(since, `${text}T00:00:00.000Z`);
        else
          assert.ok(
            Date.parse(since) <= now.getTime() && now.getTime() - Date.parse(since) <= 36_501 * 86_400_000,
          );
      },
    ),
  ),
  property(
    "base URL: what is accepted is an address that leads where it says, and is read the same again",
    { batch: 2000 },
    fc.property(fc.oneof(url, anyText), (text) => {
      const address = readBaseUrl(text);
      if ("problem" in address) return assert.notEqual(address.problem, "");
      const { protocol, hostname, username, password, origin, search, hash } = new URL(text);
      assert.deepEqual([username, password, search, hash], ["", "", "", ""]);
      assert.doesNotMatch(text, /[?#]/);
      assert.deepEqual([address.origin, address.baseUrl], [origin, origin + address.basePath]);
      assert.ok(
        protocol === "https:" ||
          ["localhost", "[::1]"].includes(hostname) ||
          /^127(\.\d+){3}$/.test(hostname),
      );
      assert.match(address.basePath, /^(\/[^/%?#\\]+)+$/);
      assert.deepEqual(readBaseUrl(address.baseUrl), address);
      assert.deepEqual(readBaseUrl(`${address.baseUrl}/`), address);
    }),
  ),
  property(
    "key value: any text is a key that a header can carry, or a failure that does not repeat it",
    { batch: 2000 },
    fc.property(fc.oneof(anyText, fc.stringMatching(/^\s?(?:Bearer )?[!-~]{1,60}\s*$/)), (text) => {
      const failure = failureOf(() => parseKeyValue(text));
      if (failure !== null) {
        const said = `${failure.message} ${failure.hint}`;
        const [value = ""] = text
          .trim()
          .replace(/^bearer\s/i, "")
          .split(/\s/);
        return assert.ok(value.length < 8 || !said.includes(value), said);
      }
      const [name, value] = credentialHeader("x-api-key", parseKeyValue(text));
      validateHeaderValue(name, value);
      assert.equal(value, text.trim());
      assert.ok(value.length > 0 && value.length <= MAX_KEY_LENGTH);
    }),
  ),
];

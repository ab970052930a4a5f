import assert from "node:assert/strict";
import { validateHeaderValue } from "node:http";
import * as fc from "fast-check";
import { Failure } from "../../src/core/failure.ts";
import { buildCredentialHeader } from "../../src/core/http/credential-headers.ts";
import { MAX_KEY_LENGTH, parseApiKey } from "../../src/core/secrets/api-key.ts";
import { toPrintable } from "../../src/core/text/printable.ts";
import { UTC_CALENDAR } from "../../src/core/ledger/calendar.ts";
import { parsePeriod } from "../../src/core/ledger/period.ts";
import { property, type Property } from "./property.ts";

/** Any UTF-16, including characters that act on a terminal. */
export const anyText = fc.oneof(
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
 * Ranges of code points that act on a terminal or cannot be written: C0 and C1 controls, bidirectional marks, line separators
 * (SECURITY.md E3), and halves of surrogate pairs.
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

const anyDate = fc.date({ min: new Date("2020-01-01"), max: new Date("2090-01-01"), noInvalidDate: true });

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

/** Returns the failure that a call throws; null when it succeeds. */
function failureOf(call: () => unknown): Failure | null {
  try {
    call();
    return null;
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    return error;
  }
}

/** Valid spans and days, each with its point in time. */
function sinceOf(text: string, now: number): string {
  return new Date(parsePeriod({ since: text, until: undefined }, now, UTC_CALENDAR).since).toISOString();
}

const goodSince: fc.Arbitrary<[text: string, expected: (now: number) => string]> = fc.oneof(
  fc
    .nat(876_000)
    .map((hours): [string, (now: number) => string] => [
      `${hours}h`,
      (now) => new Date(now - hours * 3_600_000).toISOString(),
    ]),
  fc
    .integer({ min: 1, max: 36_500 })
    .map((days): [string, (now: number) => string] => [
      `${days}d`,
      (now) => `${new Date(now - (days - 1) * 86_400_000).toISOString().slice(0, 10)}T00:00:00.000Z`,
    ]),
  anyDate
    .map((date) => date.toISOString().slice(0, 10))
    .map((day): [string, (now: number) => string] => [day, () => `${day}T00:00:00.000Z`]),
);

export const TEXTS: readonly Property[] = [
  property(
    "since: a valid span or day yields its point in time",
    { batch: 300 },
    fc.property(goodSince, anyDate, ([text, expected], date) => {
      assert.equal(sinceOf(text, date.getTime()), expected(date.getTime()));
    }),
  ),
  property(
    "key value: any value that a header can carry, but a JSON object, is a key, whatever white space surrounds it",
    { batch: 500 },
    fc.property(
      fc.stringMatching(/^[!-~]{8,100}$/).filter((value) => !/^\{.*\}$/.test(value)),
      fc.constantFrom("", " ", "\n", "\r\n\t"),
      (key, space) => {
        const [, value] = buildCredentialHeader("x-api-key", parseApiKey(space + key + space));
        assert.equal(value, key);
      },
    ),
  ),
  property(
    "printable: no active character is left, no other is changed, and JSON keeps its value",
    { batch: 500 },
    fc.property(anyText, (text) => {
      const shown = toPrintable(text);
      assert.ok(!isActive(shown));
      assert.equal(toPrintable(shown), shown);
      if (!isActive(text)) assert.equal(shown, text);
      assert.equal(JSON.parse(toPrintable(JSON.stringify(text))), text);
    }),
  ),
  property(
    "since: any text yields a time in the past hundred years, the day that it names, or a failure with a hint",
    { batch: 500 },
    fc.property(spanOrDay, anyDate, (text, date) => {
      const failure = failureOf(() => sinceOf(text, date.getTime()));
      if (failure !== null) return assert.notEqual(failure.hint ?? "", "");
      const since = sinceOf(text, date.getTime());
      assert.equal(new Date(since).toISOString(), since);
      if (/^\d{4}-/.test(text)) assert.equal(since, `${text}T00:00:00.000Z`);
      else
        assert.ok(
          Date.parse(since) <= date.getTime() && date.getTime() - Date.parse(since) <= 36_501 * 86_400_000,
        );
    }),
  ),
  property(
    "key value: any text yields a key that a header can carry, or a failure that does not contain it",
    { batch: 2000 },
    fc.property(fc.oneof(anyText, fc.stringMatching(/^\s?(?:Bearer )?[!-~]{1,60}\s*$/)), (text) => {
      const failure = failureOf(() => parseApiKey(text));
      if (failure !== null) {
        const message = `${failure.message} ${failure.hint}`;
        const [value = ""] = text
          .trim()
          .replace(/^bearer\s/i, "")
          .split(/\s/);
        return assert.ok(value.length < 8 || !message.includes(value), message);
      }
      const [name, value] = buildCredentialHeader("x-api-key", parseApiKey(text));
      validateHeaderValue(name, value);
      assert.equal(value, text.trim());
      assert.ok(value.length > 0 && value.length <= MAX_KEY_LENGTH);
    }),
  ),
];

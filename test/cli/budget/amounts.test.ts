import assert from "node:assert/strict";
import { test } from "node:test";
import { readHours, readTokens, readUsd } from "../../../src/cli/budget/amounts.ts";
import { WrongUsage } from "../../../src/cli/wrong-usage.ts";

for (const [text, value] of [
  ["20", 20],
  ["$20", 20],
  ["20$", 20],
  ["20.50", 20.5],
  ["20,50", 20.5],
  ["20,5", 20.5],
  ["1.5k", 1500],
  ["1.1M", 1_100_000],
  ["5 usd", 5],
  ["usd 5", 5],
  ["US$5", 5],
  ["5 dollars", 5],
  ["1,000,000", 1_000_000],
  ["1,000.50", 1000.5],
  ["0.125", 0.125],
  ["0", 0],
] as const)
  test(`--usd ${text} is ${value} dollars`, () => assert.equal(readUsd(text), value));

for (const [text, value] of [
  ["2000000", 2_000_000],
  ["2,000,000", 2_000_000],
  ["2_000_000", 2_000_000],
  ["2M", 2_000_000],
  ["1.5k", 1500],
  ["500k tokens", 500_000],
  ["2e6", 2_000_000],
] as const)
  test(`--tokens ${text} is ${value} tokens`, () => assert.equal(readTokens(text), value));

for (const [text, value] of [
  ["5", 5],
  ["5h", 5],
  ["5 hours", 5],
  ["2d", 48],
] as const)
  test(`--rolling ${text} is ${value} hours`, () => assert.equal(readHours(text), value));

const WRONG: [read: (text: string) => number, text: string, message: string, hint: string][] = [
  [readUsd, "twenty", '--usd "twenty" is not a number', "--usd 20"],
  [readUsd, "5 usd a day", '--usd "5 usd a day" is not a number', "--usd 5 --per day"],
  [readUsd, "9.50/month", '--usd "9.50/month" is not a number', "--usd 9.50 --per month"],
  [readUsd, "1,000", '--usd "1,000" can be read in two ways', "--usd 1000"],
  [readUsd, "1.000", '--usd "1.000" can be read in two ways', "--usd 1000"],
  [readUsd, "1,2,3", '--usd "1,2,3" is not a number', "--usd 20"],
  [readUsd, "-5", '--usd "-5" is negative', "--usd 5"],
  [readUsd, "0.1234567", '--usd "0.1234567" has more than 6 decimal places', "--usd 20"],
  [readUsd, "20 tokens", '--usd "20 tokens" is not a number', "--usd 20"],
  [readTokens, "many", '--tokens "many" is not a number', "--tokens 2M"],
  [readTokens, "1.5", '--tokens "1.5" is not a whole number of tokens', "--tokens 1.5M"],
  [readTokens, "5MB", '--tokens "5MB" is not a number', "--tokens 5M"],
  [readTokens, "$20", '--tokens "$20" is not a number', "--tokens 20M"],
  [readHours, "soon", '--rolling "soon" is not a number of hours', "--rolling 5"],
];
for (const [read, text, message, hint] of WRONG)
  test(`${message} is refused with an example`, () =>
    assert.throws(
      () => read(text),
      (error: unknown) =>
        error instanceof WrongUsage &&
        error.message === message &&
        error.hint === `type for example: ${hint}`,
    ));

test("--usd 00, which a shell makes of $200, is refused and explained", () =>
  assert.throws(() => readUsd("00"), /a shell takes the "\$2" of \$200 away/));

import { sanitizeText } from "../../core/config/problem.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** What multiplies a number: `1.5k`, `2M`. As exponents of ten, so that the product is exact. */
const EXPONENTS: Readonly<Record<string, number>> = { "": 0, k: 3, m: 6, b: 9, g: 9 };

const USD = /^(?:us)?\$?(?:usd)?\s*(?<digits>\d[\d.,_]*)\s*(?<factor>[kmb])?\s*(?:us)?\$?(?:usd|dollars?)?$/i;
const TOKENS = /^(?<digits>\d[\d.,_]*)\s*(?<factor>[kmbg])?\s*(?:tokens?)?$/i;
const SCIENTIFIC = /^\d{1,15}(?:\.\d{1,6})?e\d{1,2}$/i;
const HOURS = /^(?<digits>\d{1,5})\s*(?<unit>h|hours?|d|days?)?$/i;

const USD_PLACES = 6;

/** Reads an amount of dollars as people type it: `20`, `$20`, `20.50`, `20,50`, `1.5k`, `20 usd`. @throws WrongUsage */
export function readUsd(text: string): number {
  const fail = (why: string) => wrongAmount("--usd", text, why);
  const value = readNumber(USD, text, fail);
  if (value === 0 && text.trim().length > 1 && /^0+$/.test(text.trim()))
    throw new WrongUsage(
      `--usd ${text.trim()} is probably not what you typed: a shell takes the "$2" of $200 away`,
      "type the number without the sign, for example: --usd 200",
    );
  if (Number(value.toFixed(USD_PLACES)) !== value) throw fail(`has more than ${USD_PLACES} decimal places`);
  return value;
}

/** Reads a number of tokens as people type it: `2000000`, `2,000,000`, `2M`, `500k`. @throws WrongUsage */
export function readTokens(text: string): number {
  const fail = (why: string) => wrongAmount("--tokens", text, why);
  const value = readNumber(TOKENS, text, fail);
  if (!Number.isSafeInteger(value)) throw fail("is not a whole number of tokens");
  return value;
}

/** Reads a window in hours as people type it: `5`, `5h`, `2d`. @throws WrongUsage */
export function readHours(text: string): number {
  const { digits, unit = "" } = HOURS.exec(text.trim())?.groups ?? {};
  if (digits === undefined)
    throw new WrongUsage(
      `--rolling "${sanitizeText(text)}" is not a number of hours`,
      "type for example: --rolling 5",
    );
  return Number(digits) * (/^d/i.test(unit) ? 24 : 1);
}

function readNumber(pattern: RegExp, text: string, fail: (why: string) => WrongUsage): number {
  if (text.trim().startsWith("-")) throw fail("is negative");
  if (SCIENTIFIC.test(text.trim())) return Number(text);
  const { digits, factor = "" } = pattern.exec(text.trim())?.groups ?? {};
  if (digits === undefined) throw fail("is not a number");
  if (isAmbiguous(digits)) throw fail("can be read in two ways");
  const plain = toPlain(digits);
  if (plain === null) throw fail("is not a number");
  return Number(`${plain}e${EXPONENTS[factor.toLowerCase()] ?? 0}`);
}

/** `1,000` is a thousand to some people and one to others; `1.000` likewise. */
function isAmbiguous(digits: string): boolean {
  return /^[1-9]\d{0,2}(?:,\d{3}|\.000)$/.test(digits);
}

/** Returns a number as JavaScript writes it; null for other uses of commas and points. */
function toPlain(digits: string): string | null {
  if (/^\d+(?:\.\d+)?$/.test(digits)) return digits;
  if (/^\d{1,3}(?:([,_])\d{3})(?:\1\d{3})*(?:\.\d+)?$/.test(digits)) return digits.replaceAll(/[,_]/g, "");
  return /^\d+,\d{1,2}$/.test(digits) ? digits.replace(",", ".") : null;
}

/** The example repeats what can be read of the text, such as the window in `5 usd a day`. */
function wrongAmount(option: "--usd" | "--tokens", text: string, why: string): WrongUsage {
  const window = /hour|day|week|month/i.exec(text)?.[0].toLowerCase();
  const example = option === "--usd" ? exampleUsd(text) : exampleTokens(text);
  const amount = why === "can be read in two ways" ? text.replaceAll(/\D/g, "") : example;
  return new WrongUsage(
    `${option} "${sanitizeText(text)}" ${why}`,
    `type for example: ${option} ${amount}${window === undefined ? "" : ` --per ${window}`}`,
  );
}

function exampleUsd(text: string): string {
  return /(?<![\d.,])\d+(?:\.\d{1,2})?(?![\d.,])/.exec(text)?.[0] ?? "20";
}

/** Two and a half tokens, or five, cannot be meant: `2.5` and `5MB` are millions. */
function exampleTokens(text: string): string {
  const { number, factor } =
    /(?<![\d.,])(?<number>\d+(?:\.\d{1,2})?)(?![\d.,])\s*(?<factor>[kmbg])?/i.exec(text)?.groups ?? {};
  return number === undefined ? "2M" : `${number}${factor?.toUpperCase() ?? "M"}`;
}

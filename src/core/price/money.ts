import { groupDigits } from "../text/group-digits.ts";

/**
 * An amount of money, in 10^-30 US dollars. Sums of it are exact, which sums of JavaScript numbers are not. So is each amount: no product
 * of a count, a price and its factors is finer, so that it does not matter whether tokens are added first or amounts.
 */
export type Money = bigint;

/** A decimal number that is not negative: `digits / 10^scale`. */
export interface Decimal {
  digits: bigint;
  scale: number;
}

/** Decimal places of {@link Money}: 12 of a price (config/price-schema.ts) for 10^6 tokens, 6 of a discount, and 2 of each modifier. */
const MONEY_SCALE = 30;

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Parses a number such as `3`, `0.075` or `1.13e-05` exactly. Returns null for anything else, and for negative numbers. */
export function parseDecimal(text: string): Decimal | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** Returns a JavaScript number as the decimal that its shortest text says: 0.1 is one tenth. @throws RangeError unless >= 0 */
export function decimalOf(value: number): Decimal {
  const decimal = parseDecimal(String(value));
  if (decimal === null) throw new RangeError("not a decimal number >= 0");
  return decimal;
}

/** Adds two decimals. */
export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: scaleTo(a, scale) + scaleTo(b, scale), scale };
}

/** Multiplies two decimals. */
export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale };
}

function scaleTo({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}

/** Writes a decimal without an exponent and without needless zeros: `0.0000113`. */
export function formatDecimal({ digits, scale }: Decimal): string {
  const text = digits.toString().padStart(scale + 1, "0");
  const whole = text.slice(0, text.length - scale);
  const fraction = text.slice(text.length - scale).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** Returns `count * rate * factors / 10^perExponent` in dollars. */
export function priceOf(
  count: number,
  rate: Decimal,
  perExponent: number,
  factors: readonly Decimal[] = [],
): Money {
  let digits = BigInt(count) * rate.digits;
  let scale = rate.scale + perExponent;
  for (const factor of factors) {
    digits *= factor.digits;
    scale += factor.scale;
  }
  return toMoney({ digits, scale });
}

/** Returns dollars as {@link Money}, rounded half to even if they are finer. */
export function toMoney({ digits, scale }: Decimal): Money {
  if (scale <= MONEY_SCALE) return digits * powerOfTen(MONEY_SCALE - scale);
  return divideHalfEven(digits, powerOfTen(scale - MONEY_SCALE));
}

/** Those that most amounts need. To compute one takes as long as the rest of an amount. */
const POWERS = Array.from({ length: MONEY_SCALE + 1 }, (_, exponent) => 10n ** BigInt(exponent));

function powerOfTen(exponent: number): bigint {
  return POWERS[exponent] ?? 10n ** BigInt(exponent);
}

function divideHalfEven(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  const twice = (value % by) * 2n;
  const isUp = twice > by || (twice === by && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}

/** Parses dollars as {@link formatMoney} writes them. Returns null for what is not a decimal number >= 0. */
export function parseMoney(text: string): Money | null {
  const decimal = parseDecimal(text);
  return decimal === null ? null : toMoney(decimal);
}

/** Writes an amount for programs: all of its digits, in dollars, such as `0.420015`. */
export function formatMoney(amount: Money): string {
  // Most amounts of a long report are none.
  return amount === 0n ? "0" : formatDecimal({ digits: amount, scale: MONEY_SCALE });
}

/** {@link formatMoney} of an amount that may not be known: null for one that is not. */
export function formatIfKnown(amount: Money | null): string | null {
  return amount === null ? null : formatMoney(amount);
}

/**
 * Writes an amount for people: cents, or as many digits as it takes to show three that count, such as `$1,204.50`, `$0.420` and
 * `$0.00042`. Rounded half to even; an amount that is not 0 is never shown as 0.
 */
export function formatDollars(amount: Money): string {
  const length = amount.toString().length;
  const places = amount === 0n ? 2 : Math.min(MONEY_SCALE, Math.max(2, MONEY_SCALE + 3 - length));
  return writeDollars(amount, places);
}

/**
 * Writes an amount for a column whose sum is `total`: all of them have as many places, 2 or, below a dollar, 4. Rounded half to even; an
 * amount that is not 0 is never shown as 0, but as `<$0.01`.
 */
export function formatInColumn(amount: Money, total: Money): string {
  const places = total >= powerOfTen(MONEY_SCALE) || total === 0n ? 2 : 4;
  const smallest = powerOfTen(MONEY_SCALE - places);
  return amount > 0n && 2n * amount <= smallest
    ? `<${writeDollars(smallest, places)}`
    : writeDollars(amount, places);
}

function writeDollars(amount: Money, places: number): string {
  const rounded = divideHalfEven(amount, powerOfTen(MONEY_SCALE - places));
  const text = rounded.toString().padStart(places + 1, "0");
  return `$${groupDigits(text.slice(0, -places))}.${text.slice(-places)}`;
}

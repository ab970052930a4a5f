import { decimalOf, formatMoney, parseMoney } from "../../../../core/price/money.ts";
import type { Sums } from "../feed-types.ts";
import { withMinus } from "../numbers.ts";
import { wordForCost } from "../usage-sums.ts";

/** Two figures and their difference, as they are shown together. */
interface Beside {
  now: string;
  before: string;
  difference: string;
}

/** Decimal places that are tried at most. A JavaScript number is not more exact. */
const MOST_PLACES = 12;

/**
 * Writes two costs and their difference, which comes from the exact amounts. Each has as many places as usual, and more where the shown
 * difference would not be that of the shown costs: `$6.724`, `$8.796` and `−$2.072`. `≥` or `≤` stands before the difference where one cost
 * is not exact, and `≈` where both are not. The difference is empty where neither cost is known to be anything.
 */
export function costsBeside(now: Sums | null, before: Sums | null): Beside {
  const difference = differenceOf(now, before);
  const [one, other] = [usdOf(now), usdOf(before)];
  const places = agreeingPlaces([one, other, difference], placesOfDollars);
  const write = (sums: Sums | null, usd: number, at: number) =>
    sums === null
      ? "–"
      : (wordForCost(sums) ?? `${sums.cost_is_exact ? "" : "≥"}${writeDollars(usd, places[at] ?? 0)}`);
  const isNothing = one === 0 && other === 0;
  const signed = writeDollars(difference, places[2], "exceptZero");
  return {
    now: write(now, one, 0),
    before: write(before, other, 1),
    difference: isNothing ? "" : `${boundOfDifference(now, before)}${signed}`,
  };
}

/** Dollars that a cost is above another one. It is exact as far as a number can be. */
export function differenceOf(now: Sums | null, before: Sums | null): number {
  const difference = moneyOf(now) - moneyOf(before);
  return difference < 0n ? -Number(formatMoney(-difference)) : Number(formatMoney(difference));
}

/** Writes two shares and how many points the first is above the second: `85%`, `89%` and `−4 points`. */
export function sharesBeside(now: number, before: number): Beside {
  const percents = [100 * now, 100 * before, 100 * (now - before)] as const;
  const places = agreeingPlaces(percents, placesOfPercent);
  const [one = "", other = "", points = ""] = percents.map((percent, at) =>
    new Intl.NumberFormat(undefined, {
      minimumFractionDigits: places[at] ?? 0,
      maximumFractionDigits: places[at] ?? 0,
      ...(at === 2 ? { signDisplay: "exceptZero" } : {}),
    }).format(percent),
  );
  const unit = Number(percents[2].toFixed(places[2])) ** 2 === 1 ? "point" : "points";
  return { now: `${one}%`, before: `${other}%`, difference: `${withMinus(points)} ${unit}` };
}

type Three = readonly [now: number, before: number, difference: number];

/** The places of two figures and their difference, so that the shown difference is that of the shown figures, as far as it has places. */
function agreeingPlaces(figures: Three, usualPlaces: (figure: number) => number): Three {
  for (let least = 0; ; least += 1) {
    const [now, before, own] = figures.map((figure) =>
      Math.max(least, usualPlaces(figure)),
    ) as unknown as Three;
    const most = Math.max(now, before);
    const places: Three = [now, before, Math.min(own, most)];
    const [one, other, difference] = figures.map((figure, at) =>
      unitsOf(figure, places[at] ?? 0, most),
    ) as unknown as [bigint, bigint, bigint];
    const off = one - other - difference;
    // Half of the last place of the difference, in which it is rounded.
    const isRounding =
      2n * (off < 0n ? -off : off) <= (places[2] < most ? 10n ** BigInt(most - places[2]) : 0n);
    const isHidden = difference === 0n && figures[2] !== 0;
    if ((isRounding && !isHidden) || least >= MOST_PLACES) return places;
  }
}

/** A figure as it is shown with so many places, in units of the last of `most` places. Browsers round its shortest text, half away from 0. */
function unitsOf(figure: number, places: number, most: number): bigint {
  const { digits, scale } = decimalOf(Math.abs(figure));
  const finer = 10n ** BigInt(Math.max(0, scale - places));
  const shown = (2n * digits * 10n ** BigInt(Math.max(0, places - scale)) + finer) / (2n * finer);
  return (figure < 0 ? -shown : shown) * 10n ** BigInt(most - places);
}

/** Cents, or below a dollar three digits that count. */
function placesOfDollars(usd: number): number {
  const size = Math.abs(usd);
  return size === 0 || size >= 1 ? 2 : Math.min(MOST_PLACES, 2 - Math.floor(Math.log10(size)));
}

/** Whole percents, unless one would be shown as nothing or all that is not. */
function placesOfPercent(percent: number): number {
  for (let places = 0; places < MOST_PLACES; places += 1) {
    const shown = Math.abs(Number(percent.toFixed(places)));
    if (shown === Math.abs(percent) || (shown !== 0 && shown !== 100)) return places;
  }
  return MOST_PLACES;
}

function writeDollars(usd: number, places: number, signDisplay: "auto" | "exceptZero" = "auto"): string {
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places };
  const format = new Intl.NumberFormat(undefined, {
    style: "currency",
    currency: "USD",
    signDisplay,
    ...digits,
  });
  return withMinus(format.format(usd));
}

function moneyOf(sums: Sums | null): bigint {
  return parseMoney(sums?.cost_usd ?? "0") ?? 0n;
}

function usdOf(sums: Sums | null): number {
  return Number(sums?.cost_usd ?? 0);
}

/** What a difference may be besides the shown one: more where only the first cost may be, less where only the second may be. */
function boundOfDifference(now: Sums | null, before: Sums | null): string {
  const [isNowExact, isBeforeExact] = [now, before].map((sums) => sums === null || sums.cost_is_exact);
  if (isNowExact === isBeforeExact) return isNowExact === true ? "" : "≈";
  return isNowExact === true ? "≤" : "≥";
}

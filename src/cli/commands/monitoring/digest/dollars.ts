import { decimalOf, formatMoney, toMoney, type Money } from "../../../../core/price/money.ts";

/** Returns an amount as a number of dollars, for statistics. Sums of money stay exact. */
export function toDollars(amount: Money): number {
  return Number(formatMoney(amount));
}

/** Returns a number of dollars as an amount, to be written. */
export function toAmount(dollars: number): Money {
  return toMoney(decimalOf(dollars));
}

import { priceCharge, priceWorth } from "../../price/charge-cost.ts";
import { amountOf, CostSum } from "../../price/spending/cost-sum.ts";
import type { MissedCost } from "../../price/missed.ts";
import type { Money } from "../../price/money.ts";
import type { PriceBook } from "../../price/price-book.ts";
import type { SpendingCost } from "../../price/spending.ts";
import { UnitPrices } from "../../price/spending/unit-prices.ts";
import type { Names } from "../groups.ts";
import type { PlacedCharge } from "../rollup/charge-table.ts";
import type { RollupSums } from "../rollup/rollup-sums.ts";
import type { Tally } from "../tally.ts";

/** One group: its sums, and what it cost. Of a long report they are computed each time they are asked for: `readRow`. */
export interface ReportRow {
  /** One for each grouping. */
  names: Names;
  sums: Tally;
  cost: SpendingCost;
  /** What the misses of the cache cost more than hits; left out of reports that are not by miss, and null without a miss. */
  missed?: MissedCost | null | undefined;
}

/** The rows of a report, in columns, and what they cost. */
export class SummedRows {
  readonly sums: RollupSums;
  readonly prices: PriceBook;
  /** True where rows say what misses of the cache cost. */
  readonly areMissesAsked: boolean;
  /** By the number of the terms. */
  readonly #units: UnitPrices[] = [];

  constructor(sums: RollupSums, prices: PriceBook, areMissesAsked: boolean) {
    this.sums = sums;
    this.prices = prices;
    this.areMissesAsked = areMissesAsked;
  }

  /** Returns a row, whose sums are read when they are asked for. */
  at(row: number): SummedRow {
    return new SummedRow(this, row);
  }

  /** Returns the sum of rows under other names. */
  sumOf(names: Names, rows: readonly number[]): ReportRow {
    const sums = this.sums.sumOf(rows);
    const cost = sums.spending.cost(this.prices);
    return {
      names,
      sums,
      cost,
      ...(this.areMissesAsked && { missed: sums.missed?.cost(this.prices) ?? null }),
    };
  }

  /** Returns what each row costs at least: `SpendingCost.amount`. All at once, because charges are not in the order of their rows. */
  amounts(): Money[] {
    const amounts = Array.from({ length: this.sums.names.size }, (_, row) => this.sums.billedOf(row));
    for (const { row, charge } of this.sums.charges()) {
      const unit = this.#unitOf(charge);
      if (unit.isWorth) continue;
      const amount = hasCalls(charge)
        ? this.#price(charge).amount
        : unit.amountOf(charge.sums, charge.at + 1);
      amounts[row] = (amounts[row] ?? 0n) + amount;
    }
    return amounts;
  }

  /** Returns what a row costs. */
  costOf(row: number): SpendingCost {
    const sum = new CostSum(this.sums.billedOf(row), true);
    for (const charge of this.sums.chargesOf(row)) {
      const unit = this.#unitOf(charge);
      const cost = hasCalls(charge) ? this.#price(charge) : unit.costOf(charge.sums, charge.at + 1);
      const requests = charge.sums[charge.at] ?? 0;
      if (unit.payer === "plan") sum.addWorth(cost);
      else if (unit.payer === "own") sum.addOwnWorth(cost);
      else if (unit.payer === "extra") sum.addExtra(requests, cost);
      else sum.add(requests, cost);
    }
    return sum.finish();
  }

  #unitOf({ terms }: PlacedCharge): UnitPrices {
    return (this.#units[terms] ??= new UnitPrices(this.sums.termsAt(terms), this.prices));
  }

  /** Prices a charge by itself, with its calls. */
  #price(charge: PlacedCharge) {
    const price = this.#unitOf(charge).isWorth ? priceWorth : priceCharge;
    return amountOf(price(this.sums.toCharge(charge), this.prices));
  }
}

/**
 * A row that is read from the columns each time something is asked of it, because all rows of a year take much memory. Who asks for several
 * things reads it once ({@link readRow}).
 */
class SummedRow {
  readonly #rows: SummedRows;
  readonly #row: number;

  constructor(rows: SummedRows, row: number) {
    this.#rows = rows;
    this.#row = row;
  }

  /** Returns the sum of rows of one report under other names. */
  static sumOf(names: Names, [first, ...others]: readonly SummedRow[]): ReportRow {
    if (first === undefined) throw new Error("a sum has rows");
    return first.#rows.sumOf(names, [first.#row, ...others.map((row) => row.#row)]);
  }

  get names(): Names {
    return this.#rows.sums.namesOf(this.#row);
  }

  get sums(): Tally {
    return this.#rows.sums.tallyOf(this.#row);
  }

  get cost(): SpendingCost {
    return this.#rows.costOf(this.#row);
  }

  get missed(): MissedCost | null | undefined {
    const { areMissesAsked, prices } = this.#rows;
    return areMissesAsked ? (this.sums.missed?.cost(prices) ?? null) : undefined;
  }
}

/** Adds up rows of one report under other names. */
export function sumOfRows(names: Names, rows: readonly ReportRow[]): ReportRow {
  return SummedRow.sumOf(
    names,
    rows.filter((row) => row instanceof SummedRow),
  );
}

function hasCalls({ tools }: PlacedCharge): boolean {
  for (const _ in tools) return true;
  return false;
}

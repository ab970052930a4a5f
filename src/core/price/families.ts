import { familyOf } from "./names.ts";
import { pricesAt, type Period } from "./price-table.ts";
import type { Rates } from "./rates.ts";

/** Prices that a model has, by time. */
type DatedRates = Rates & Period;

/** The models with prices, by their family, for the models that have none. */
export class Families {
  readonly #byFamily = new Map<string, (readonly DatedRates[])[]>();
  readonly #byLine = new Map<string, (readonly DatedRates[])[]>();

  add(model: string, prices: readonly DatedRates[]): void {
    const { family, line } = familyOf(model);
    append(this.#byFamily, family, prices);
    append(this.#byLine, line, prices);
  }

  /**
   * Returns the prices of the models that are most like one, at a time in milliseconds since 1970: of its family, such as `claude-sonnet`,
   * or else of its line, such as `claude`. Nothing where there are none.
   */
  like(model: string, at: number): Rates[] {
    const { family, line } = familyOf(model);
    const alike = this.#byFamily.get(family) ?? this.#byLine.get(line) ?? [];
    return alike.flatMap((prices) => pricesAt(prices, at) ?? []);
  }
}

function append<Value>(lists: Map<string, Value[]>, name: string, value: Value): void {
  if (name === "") return;
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [value]);
  else list.push(value);
}

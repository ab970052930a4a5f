import { accountOf } from "../../plans/names.ts";
import { isTime, type Grouping, type TimeGrouping } from "../grouping.ts";
import { isAdmitted, RECORD_FILTERS, type RecordFilter } from "../record-filter.ts";
import { ROLLUP_AXES, type Axis } from "./axes.ts";
import { PairNumbers } from "./pair-numbers.ts";
import type { Column, SumBlock } from "./sum-block.ts";

/** The names of a day's groups, as a question asks for them. Texts are compared once, and their numbers from then on. */
export class BlockNames {
  readonly #block: SumBlock;
  /** The columns that tell the rows of names apart which the question does. */
  readonly #keys: readonly Column[];
  readonly #filters: readonly { column: Column | undefined; isTextAdmitted: (text: number) => boolean }[];

  constructor(block: SumBlock, { by, filter }: { by: readonly Grouping[]; filter: RecordFilter }) {
    this.#block = block;
    // The upstream also tells the sandbox apart.
    const keys = new Set([
      ...by.filter((grouping) => !isOutside(grouping)).flatMap(axesOf),
      "upstream" as const,
    ]);
    this.#keys = Array.from(keys, (axis) => columnOf(block, axis)).filter((column) => column !== undefined);
    this.#filters = RECORD_FILTERS.filter((field) => filter[field] !== undefined).map((field) => ({
      column: columnOf(block, field === "model" ? "requested" : field),
      isTextAdmitted: remember((text) =>
        isAdmitted({ [field]: filter[field] }, () => block.texts[text] ?? null),
      ),
    }));
  }

  /** Returns what a row of names has for a grouping; null for what the sums do not know, and for times. */
  nameOf(grouping: Grouping | "requested", row: number): string | null {
    if (grouping !== "requested" && isOutside(grouping)) return null;
    return grouping === "account"
      ? accountOf(this.#textOf("upstream", row) ?? "", this.#textOf("key", row) ?? "")
      : this.#textOf(grouping, row);
  }

  #textOf(axis: Axis, row: number): string | null {
    return this.#block.texts[columnOf(this.#block, axis)?.[row] ?? 0] ?? null;
  }

  /** True where the question's filter admits the requests of a row of names. */
  isAdmitted(row: number): boolean {
    return this.#filters.every(({ column, isTextAdmitted }) => isTextAdmitted(column?.[row] ?? 0));
  }

  /** Returns a number for each row of names, from 0 on: rows share one if the question does not tell them apart. */
  keys(): { keys: Int32Array; count: number } {
    const keys = new Int32Array(this.#block.names[0]?.length ?? 0);
    let count = 1;
    for (const column of this.#keys) {
      const pairs = new PairNumbers();
      for (let row = 0; row < keys.length; row += 1)
        keys[row] = pairs.numberOf(keys[row] ?? 0, column[row] ?? 0);
      count = Math.max(1, pairs.size);
    }
    return { keys, count };
  }
}

/** True for what no column has: times, and the windows of services' limits, which begin at any time. */
function isOutside(grouping: Grouping): grouping is TimeGrouping | "window" {
  return isTime(grouping) || grouping === "window";
}

/** Who paid is told by the upstream and the key. */
function axesOf(grouping: Exclude<Grouping, TimeGrouping | "window">): Axis[] {
  return grouping === "account" ? ["upstream", "key"] : [grouping];
}

function columnOf({ kind, names }: SumBlock, axis: Axis): Column | undefined {
  return names[ROLLUP_AXES[kind].indexOf(axis)];
}

function remember(isTrue: (text: number) => boolean): (text: number) => boolean {
  const known: boolean[] = [];
  return (text) => (known[text] ??= isTrue(text));
}

import type { ReportRow } from "../../../core/ledger/report.ts";
import type { PriceTable } from "../../../core/price/price-table.ts";
import { layOutProse } from "../../terminal/prose.ts";
import { inTone } from "../../terminal/styles.ts";
import { footnotes } from "./footnotes.ts";
import { describeHidden, describeTotal } from "./sentences.ts";
import type { View } from "./table.ts";

/** A table of usage. */
interface Explained {
  total: ReportRow;
  table: PriceTable;
  /** The groupings of the table where another one may be asked for, else null. */
  by: readonly string[] | null;
  /** The headings of the columns that gave way. */
  hidden: readonly string[];
  /** How many columns `--wide` adds. */
  hasMore: boolean;
}

/** True where two lines explain a table: a person looks, and did not ask for everything. */
export function hasFootnotes({ isTerminal, isWide }: Pick<View, "isTerminal" | "isWide">): boolean {
  return isTerminal && !isWide;
}

/** Returns what a table needs to be understood, by its total: two lines, or all of it in sentences. */
export function explainTotal({ total, table, by, hidden, hasMore }: Explained, view: View): string {
  if (hasFootnotes(view)) {
    const canSeeHow = by !== null && !by.includes("outcome");
    const lines = footnotes({ total, table, canSeeHow, hasMore }, view.width);
    return lines.map((line) => inTone(line, "faint", view.isColoured)).join("\n");
  }
  const sentences = [...describeTotal(total, table, by), describeHidden(hidden)];
  return layOutProse(
    sentences.filter((one) => one !== null),
    view.width,
  );
}

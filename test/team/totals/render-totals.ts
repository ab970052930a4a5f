import type { TotalsReport } from "./run-totals.ts";
import type { Totals } from "./totals.ts";

const ROWS: Readonly<Record<keyof Totals, string>> = {
  exchanges: "exchanges",
  requests: "requests",
  failed: "failed requests",
  free: "free requests",
  input: "input tokens",
  output: "output tokens",
  cacheRead: "cache read tokens",
  nanodollars: "cost in US dollars",
};

/** Returns a report as lines: a table with a column for each source, and what is wrong. */
export function renderTotals({ columns, faults, sent, answered, repeated }: TotalsReport): string[] {
  const names = Object.keys(ROWS) as (keyof Totals)[];
  const cells = [
    ["", ...Object.keys(columns)],
    ...names.map((name) => [
      ROWS[name],
      ...Object.values(columns).map((totals) => format(name, totals[name])),
    ]),
  ];
  const widths = cells[0]?.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0))) ?? [];
  const table = cells.map(([label = "", ...values]) =>
    [label.padEnd(widths[0] ?? 0), ...values.map((value, at) => value.padStart(widths[at + 1] ?? 0))].join(
      "  ",
    ),
  );
  return [
    ...table,
    `${sent} requests sent, ${answered} responses received whole; ${repeated} log records came again`,
    ...faults.map((fault) => `FAULT: ${fault}`),
    faults.length === 0 ? "equal" : "NOT EQUAL",
  ];
}

function format(name: keyof Totals, value: number | null): string {
  if (value === null) return "-";
  return name === "nanodollars" ? (value / 1e9).toFixed(9) : String(value);
}

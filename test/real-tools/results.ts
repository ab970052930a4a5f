import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { formatTable, type Column } from "../../src/cli/terminal/table.ts";

/** The result of one tool by column. A missing column was not reached. */
export type Result = Readonly<Record<string, string>>;

/** The variable with the file that collects the results of several processes. */
export const RESULTS_VARIABLE = "TOLLKEEPER_TOOLS_RESULTS";

/** Saves one tool's result for the table. */
export function keepResult(result: Result): void {
  const file = process.env[RESULTS_VARIABLE];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(result)}\n`);
}

/** Renders one table for each kind of result; empty without results. */
export function renderResults(file: string): string {
  if (!existsSync(file)) return "";
  const results = readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Result);
  const kinds = [...new Set(results.map(({ kind = "" }) => kind))].sort();
  return kinds.map((kind) => renderKind(results.filter((result) => result["kind"] === kind))).join("\n\n");
}

function renderKind(rows: readonly Result[]): string {
  // A complete result has all columns in their order.
  const fullest = rows.toSorted((one, other) => Object.keys(other).length - Object.keys(one).length);
  const heads = [...new Set(fullest.flatMap((row) => Object.keys(row)))].filter((head) => head !== "kind");
  const columns = heads.map((head): Column => ({ head, align: "left" }));
  return formatTable(
    columns,
    rows.map((row) => heads.map((head) => row[head] ?? "")),
  );
}

import { Failure } from "../../failure.ts";
import { isObject, parseJson, type JsonObject } from "../../json.ts";
import { parseCsv } from "../../text/csv.ts";
import { formatCommand } from "../../text/shell-words.ts";
import { asText } from "../../usage/fields.ts";
import { FORMS, mappedForm, type ColumnMap } from "./forms.ts";
import type { ServiceExport, ServiceRow } from "./service-row.ts";

/** Where exports name the API key of a row. */
const KEY_COLUMNS = ["api_key", "api_key_name", "api_key_id"];

/** What to read of an export: which column is what, if it is not a known one; and the value that a column must have. */
interface Reading {
  map: ColumnMap | null;
  only: { column: string; value: string } | null;
}

/**
 * Reads a service's usage export, CSV or JSON.
 * @throws Failure for a text that is none, for one without usage whose kind cannot be told, for a row that cannot be read, and where no row
 * has the value that is wanted
 */
export function readExport(text: string, { map, only }: Reading): ServiceExport {
  const all =
    text.trimStart().startsWith("{") || text.trimStart().startsWith("[") ? readJson(text) : readCsv(text);
  if (all.length === 0)
    throw new Failure("the export has no rows", "export it again, for a period with usage");
  const form = map === null ? FORMS.find(({ fits }) => all.some(fits)) : mappedForm(map);
  // A bucket of a JSON report in which nothing was used has only its times.
  const example = all.find((row) => form?.fits(row));
  if (form === undefined || example === undefined) throw unknownForm(all, map);
  if (only !== null && !(only.column in example)) throw unknownColumn(only.column, example);
  const keyColumn = KEY_COLUMNS.find((column) => all.some((row) => asText(row[column]) !== null)) ?? null;
  const keys = new Map<string, number>();
  const rows: ServiceRow[] = [];
  const empty: ServiceExport["empty"] = [];
  for (const [index, row] of all.entries()) {
    const when = form.when(row);
    if (when !== null && form.amounts(row).every(isBlank)) {
      empty.push(when);
      continue;
    }
    if (only !== null && row[only.column] !== only.value) continue;
    const read = form.read(row);
    if (read === null) throw unreadableRow(index, row);
    const key = keyColumn === null ? null : asText(row[keyColumn]);
    if (key !== null) keys.set(key, (keys.get(key) ?? 0) + 1);
    rows.push({ ...read, key });
  }
  if (only !== null && rows.length === 0) throw noSuchValue(only, all);
  const { name, service, nothing, leavesOut } = form;
  return { form: name, service, rows, empty, nothing, leavesOut, keyColumn, keys };
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function readCsv(text: string): JsonObject[] {
  const [header = [], ...rows] = parseCsv(text);
  const names = header.map((name) => name.trim());
  return rows.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""])));
}

/** Takes one page of a report or a list of pages, and gives each result the times of its bucket. One without results stays as it is. */
function readJson(text: string): JsonObject[] {
  const value = parseJson(text);
  if (value === undefined) throw new Failure("the export is not valid JSON", "download it again");
  const pages = Array.isArray(value) ? value : [value];
  const buckets = pages.flatMap((page: unknown) => (isObject(page) ? (listOf(page["data"]) ?? [page]) : []));
  return buckets.filter(isObject).flatMap(({ results, ...bucket }) => {
    const rows = listOf(results) ?? listOf(bucket["result"]);
    const found = rows?.filter(isObject) ?? [];
    return found.length === 0 ? [bucket] : found.map((row) => ({ ...bucket, ...row }));
  });
}

function listOf(value: unknown): unknown[] | null {
  return Array.isArray(value) ? value : null;
}

/** A bucket of a JSON report that has nothing but its times. */
const BUCKET = /^(?:object|start_time|end_time|starting_at|ending_at)(?:_iso)?$/;

function unknownForm(all: readonly JsonObject[], map: ColumnMap | null): Failure {
  const names = [...new Set(all.flatMap(Object.keys))];
  if (names.every((name) => BUCKET.test(name) || name === "results"))
    return new Failure("the export has no usage", "export it again, for a period with usage");
  const columns = names.join(", ");
  if (map !== null)
    return new Failure("a column that --map names is not in the export", `its columns are: ${columns}`);
  const guessed = guessColumns(names);
  return new Failure(
    `the export is of no known kind; its columns are: ${columns}`,
    guessed === null
      ? "to say which of them is what, add for example: --map date=day,model=model,input=prompt_tokens,output=completion_tokens"
      : `to say which of them is what, add, if these are right: ${formatCommand(["--map", guessed])}`,
  );
}

/** What columns of other exports are called, by what they can be mapped to. */
const GUESSES: readonly (readonly [keyof ColumnMap, RegExp])[] = [
  ["date", /date|day|time/i],
  ["model", /model/i],
  ["input", /prompt|input/i],
  ["output", /completion|output/i],
  ["cost", /cost|amount|spend|usd/i],
];

/** Returns a `--map` with the first column that each name fits; null where they are not enough. */
function guessColumns(names: readonly string[]): string | null {
  const found = GUESSES.flatMap(([name, pattern]) => {
    const column = names.find((one) => pattern.test(one) && !/[,=]/.test(one));
    return column === undefined ? [] : [[name, column] as const];
  });
  const has = new Set(found.map(([name]) => name));
  if (!has.has("date") || !(has.has("cost") || (has.has("input") && has.has("output")))) return null;
  return found.map((pair) => pair.join("=")).join(",");
}

function unknownColumn(column: string, row: JsonObject): Failure {
  return new Failure(`the export has no column ${column}`, `its columns are: ${Object.keys(row).join(", ")}`);
}

/** So many values are named. */
const MOST_VALUES = 10;

function noSuchValue({ column, value }: NonNullable<Reading["only"]>, all: readonly JsonObject[]): Failure {
  const values = [...new Set(all.flatMap((row) => asText(row[column]) ?? []))].toSorted();
  const rest = values.length - MOST_VALUES;
  const named = values.slice(0, MOST_VALUES).join(", ");
  return new Failure(
    `no row of the export has ${column}=${value}`,
    values.length === 0
      ? `no row names its ${column}; leave out --only`
      : `its values are: ${named}${rest > 0 ? ` and ${rest} more` : ""}`,
  );
}

/** Rows count from 1, without the header. */
function unreadableRow(index: number, row: JsonObject): Failure {
  return new Failure(
    `row ${index + 1} of the export cannot be read: ${JSON.stringify(row).slice(0, 300)}`,
    "export it again, without editing it in a spreadsheet",
  );
}

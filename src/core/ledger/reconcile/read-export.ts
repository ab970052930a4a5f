import { Failure } from "../../failure.ts";
import { isObject, parseJson, type JsonObject } from "../../json.ts";
import { parseCsv } from "../../text/csv.ts";
import { asText } from "../../usage/fields.ts";
import { FORMS, mappedForm, type ColumnMap } from "./forms.ts";
import type { ServiceExport } from "./service-row.ts";

/** Where exports name the API key of a row. */
const KEY_COLUMNS = ["api_key", "api_key_name", "api_key_id"];

/** What to read of an export: which column is what, if it is not a known one; and the value that a column must have. */
interface Reading {
  map: ColumnMap | null;
  only: { column: string; value: string } | null;
}

/** Reads a service's usage export, CSV or JSON. @throws Failure for a text that is none, or has a row that cannot be read */
export function readExport(text: string, { map, only }: Reading): ServiceExport {
  const all =
    text.trimStart().startsWith("{") || text.trimStart().startsWith("[") ? readJson(text) : readCsv(text);
  const [first] = all;
  if (first === undefined)
    throw new Failure("the export has no rows", "export it again, for a period with usage");
  const form = map === null ? FORMS.find(({ fits }) => fits(first)) : mappedForm(map);
  if (form === undefined || !form.fits(first)) throw unknownForm(first, map);
  if (only !== null && !(only.column in first))
    throw new Failure(
      `the export has no column ${only.column}`,
      `its columns are: ${Object.keys(first).join(", ")}`,
    );
  const wanted = only === null ? all : all.filter((row) => row[only.column] === only.value);
  const keyColumn = KEY_COLUMNS.find((column) => asText(first[column]) !== null);
  const keys = new Map<string, number>();
  const rows = wanted.map((row, index) => {
    const read = form.read(row);
    if (read === null) throw unreadableRow(index, row);
    const key = keyColumn === undefined ? null : asText(row[keyColumn]);
    if (key !== null) keys.set(key, (keys.get(key) ?? 0) + 1);
    return read;
  });
  return { form: form.name, rows, keys };
}

function readCsv(text: string): JsonObject[] {
  const [header = [], ...rows] = parseCsv(text);
  const names = header.map((name) => name.trim());
  return rows.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""])));
}

/** Takes one page of a report or a list of pages, and gives each result the times of its bucket. */
function readJson(text: string): JsonObject[] {
  const value = parseJson(text);
  if (value === undefined) throw new Failure("the export is not valid JSON", "download it again");
  const pages = Array.isArray(value) ? value : [value];
  const buckets = pages.flatMap((page: unknown) => (isObject(page) ? (listOf(page["data"]) ?? [page]) : []));
  return buckets.filter(isObject).flatMap(({ results, ...bucket }) => {
    const rows = listOf(results) ?? listOf(bucket["result"]);
    return rows === null ? [bucket] : rows.filter(isObject).map((row) => ({ ...bucket, ...row }));
  });
}

function listOf(value: unknown): unknown[] | null {
  return Array.isArray(value) ? value : null;
}

function unknownForm(first: JsonObject, map: ColumnMap | null): Failure {
  const columns = Object.keys(first).join(", ");
  if (map !== null)
    return new Failure("a column that --map names is not in the export", `its columns are: ${columns}`);
  return new Failure(
    `the export is of no known kind; its columns are: ${columns}`,
    "to say which of them is what, add for example: --map date=day,model=model,input=prompt_tokens,output=completion_tokens",
  );
}

/** Rows count from 1, without the header. */
function unreadableRow(index: number, row: JsonObject): Failure {
  return new Failure(
    `row ${index + 1} of the export cannot be read: ${JSON.stringify(row).slice(0, 300)}`,
    "export it again, without editing it in a spreadsheet",
  );
}

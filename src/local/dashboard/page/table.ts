import { csvLine } from "../../../core/text/csv.ts";
import { element } from "./elements.ts";
import { decimalsOf, formatCount, nameDayWholly } from "./numbers.ts";

/** A column: what its rows are sorted by, and what they show. */
export interface TableColumn<Row> {
  head: string;
  /** NaN for a row without a figure, which comes last. */
  value(row: Row): string | number;
  /** The value as text; default: the value with separators. Money has the decimals of its column. */
  text?(row: Row, decimals?: number): string;
  /** Whether values are dollars: the share of the dearest one lies behind each, where they are what was spent. */
  money?: "spent" | "other";
  /** What else a cell consists of than its text. */
  contents?(row: Row, text: string): readonly (Node | string)[];
  /** What the value counts, where a phone has no head to say it. */
  unit?(row: Row): string;
  /** True for words, which start at the same place; figures end there. */
  isWords?: boolean;
  /** True for the column of an order that its cells do not show, such as that of a tree. */
  isPlaced?: boolean;
  /** True for the column that says what makes a row stand out. */
  isVerdict?: boolean;
  /** The exact value, for those who point at it and for CSV. */
  exact?(row: Row): string;
}

/** Returns a column for rows that have the column's own rows in them. */
export function mapColumn<Row, Inner>(
  column: TableColumn<Inner>,
  innerOf: (row: Row) => Inner,
): TableColumn<Row> {
  const { head, value, text, contents, unit, exact, money, isWords = false, isVerdict = false } = column;
  return {
    head,
    isWords,
    isVerdict,
    ...(money !== undefined && { money }),
    value: (row) => value(innerOf(row)),
    ...(text !== undefined && { text: (row: Row, decimals?: number) => text(innerOf(row), decimals) }),
    ...(contents !== undefined && { contents: (row: Row, shown: string) => contents(innerOf(row), shown) }),
    ...(unit !== undefined && { unit: (row: Row) => unit(innerOf(row)) }),
    ...(exact !== undefined && { exact: (row: Row) => exact(innerOf(row)) }),
  };
}

/** A row that stands out. */
export type RowTone = "warning" | "failure" | "";

/** How rows have headings for their days, while they are sorted by a column. */
export interface Days<Row> {
  /** That column. */
  head: string;
  /** The local day of a row: `2026-11-27`. */
  dayOf(row: Row): string;
  /** Says what the rows of a day come to. */
  sum?(rows: readonly Row[]): string;
}

interface TableOptions<Row> {
  /** A class, by which the style finds the table. */
  class?: string;
  /** How the rows are sorted: the head of a column, and `,rising` if they rise; default: by the second one, falling. */
  sort?: string | undefined;
  /** Called when a reader sorts the rows. */
  onSort?(sort: string): void;
  total?: Row;
  /** How many rows are shown at first; default: as many as a person reads at a time. */
  most?: number | undefined;
  /** Called with how many rows are shown at most: at first, and when a reader asks for more. */
  onShown?(most: number): void;
  /** Headings for days, where the rows may be of several. */
  days?: Days<Row> | undefined;
  toneOf?(row: Row): RowTone;
}

/** Names the column of a cell, by its head. By it the style puts cells into the two lines that a row has on a phone. */
export const COLUMN = "data-column";

/** The attribute of a button that opens a record, with the record's id: by it, the dialog finds the next one of the list. */
export const RECORD = "data-record";

/** What the figure of a cell counts. */
const UNIT = "data-unit";

/** More rows than a person reads at a time. A year has tens of thousands of sessions. */
const MOST_ROWS = 100;
/** On a phone, where each takes two lines. */
const MOST_ON_PHONE = 25;
/** As the style has it. */
const PHONE = "(width < 32rem)";
/** How many times as many rows are shown each time a reader asks for more. */
const MORE = 10;

/** A table whose columns sort its rows, with a total and a CSV file of the same figures. */
export function sortableTable<Row>(
  caption: string,
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  {
    class: className = "",
    sort,
    onSort,
    total,
    most = matchMedia(PHONE).matches ? MOST_ON_PHONE : MOST_ROWS,
    onShown,
    days,
    toneOf = () => "",
  }: TableOptions<Row> = {},
): HTMLElement {
  let sorted = parseSort(sort, columns);
  let shown = most;
  const body = element("tbody");
  const scales = new Map(columns.map((column) => [column, scaleOf(column, rows)]));
  const showMore = () => {
    shown *= MORE;
    show();
  };
  const more = element("button", { onclick: showMore });
  const heads = columns.map((column) => {
    const attributes = { scope: "col", [COLUMN]: column.head };
    const head = element("th", { class: alignment(column), attributes });
    head.append(element("button", { class: "link", onclick: () => sortBy(column) }, column.head));
    return head;
  });
  const show = () => {
    const { column, isRising } = sorted;
    if (column === undefined) return;
    const direction = column.isPlaced === true ? "none" : isRising ? "ascending" : "descending";
    heads.forEach((head, at) => head.setAttribute("aria-sort", columns[at] === column ? direction : "none"));
    const inOrder = rows.toSorted(comparing(column, isRising)).slice(0, shown);
    const isByDay = days?.head === column.head;
    body.className = isByDay ? "by-day" : "";
    body.replaceChildren(
      ...inOrder.flatMap((row, at) => {
        const before = inOrder[at - 1];
        const isFirst = isByDay && (before === undefined || days.dayOf(before) !== days.dayOf(row));
        return [
          ...(isFirst ? [dayRow(days.dayOf(row), columns.length, sumOf(days, rows, row))] : []),
          toRow(columns, scales, row, { class: toneOf(row) }),
        ];
      }),
    );
    more.textContent =
      rows.length <= shown * MORE
        ? `Show all ${formatCount(rows.length)} rows`
        : `Show ${formatCount(shown * MORE)} rows`;
    if (rows.length <= shown) more.remove();
    onShown?.(shown);
  };
  const sortBy = (column: TableColumn<Row>) => {
    sorted = { column, isRising: sorted.column === column ? !sorted.isRising : false };
    show();
    onSort?.(`${column.head}${sorted.isRising ? RISING : ""}`);
  };
  show();
  const download = () => saveCsv(caption, columns, total === undefined ? rows : [...rows, total]);
  return element(
    "section",
    { class: "table" },
    element(
      "table",
      { class: className },
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...heads)),
      body,
      ...(total === undefined
        ? []
        : [element("tfoot", {}, toRow(columns, scales, total, { isTotal: true }))]),
    ),
    element(
      "div",
      { class: "controls" },
      ...(rows.length > shown ? [more] : []),
      element("button", { onclick: download }, "Download CSV"),
    ),
  );
}

const RISING = ",rising";

function parseSort<Row>(sort: string | undefined, columns: readonly TableColumn<Row>[]) {
  const isRising = sort?.endsWith(RISING) === true;
  const name = isRising ? sort.slice(0, -RISING.length) : sort;
  const column = columns.find(({ head }) => head === name);
  return column === undefined ? { column: columns[1] ?? columns[0], isRising: false } : { column, isRising };
}

/** A heading for the rows of a day, with what they come to. */
export function dayRow(day: string, width: number, sum = ""): HTMLElement {
  const attributes = { scope: "rowgroup", colspan: String(width) };
  return element(
    "tr",
    { class: "day" },
    element("th", { attributes }, nameDayWholly(day), element("small", {}, sum)),
  );
}

/** What all rows of a row's day come to, those included that are not shown. */
function sumOf<Row>({ dayOf, sum }: Days<Row>, rows: readonly Row[], row: Row): string {
  return sum?.(rows.filter((one) => dayOf(one) === dayOf(row))) ?? "";
}

/** A bar of less is no longer than it is high, and looks like a speck. */
const LEAST_SHARE = 0.03;

/** What the figures of a column have in common. */
interface Scale {
  /** Of money; undefined for other columns. */
  decimals: number | undefined;
  /** The highest value, of which each has a bar behind it; 0 for no bars. */
  most: number;
}

function scaleOf<Row>({ money, value }: TableColumn<Row>, rows: readonly Row[]): Scale {
  if (money === undefined) return { decimals: undefined, most: 0 };
  const values = rows.map(value).filter((one): one is number => Number.isFinite(one));
  // Of a single row it would say nothing.
  const hasBars = money === "spent" && rows.length > 1;
  return {
    decimals: decimalsOf(values),
    most: hasBars ? values.reduce((most, one) => Math.max(most, one), 0) : 0,
  };
}

function toRow<Row>(
  columns: readonly TableColumn<Row>[],
  scales: ReadonlyMap<TableColumn<Row>, Scale>,
  row: Row,
  { class: tone = "", isTotal = false },
): HTMLElement {
  return element(
    "tr",
    { class: tone },
    ...columns.map((column, at) => {
      const exact = column.exact?.(row);
      const title = exact === undefined ? {} : { title: exact };
      const { decimals, most = 0 } = scales.get(column) ?? {};
      const text = textOf(column, row, decimals);
      const contents = isTotal ? [text] : (column.contents?.(row, text) ?? [text]);
      const unit = column.unit?.(row);
      const attributes = { [COLUMN]: column.head, ...(unit !== undefined && { [UNIT]: unit }) };
      if (at > 0) {
        const cell = element("td", { class: alignment(column), attributes, ...title }, ...contents);
        const share = most > 0 && !isTotal ? Number(column.value(row)) / most : 0;
        if (share >= LEAST_SHARE) cell.style.setProperty("--share", String(share));
        return cell;
      }
      return element("th", { scope: "row", attributes }, ...contents);
    }),
  );
}

function alignment<Row>({ isWords = false, isVerdict = false }: TableColumn<Row>): string {
  return `${isWords ? "words" : ""}${isVerdict ? " verdict" : ""}`;
}

function textOf<Row>(column: TableColumn<Row>, row: Row, decimals?: number): string {
  const value = column.value(row);
  return column.text?.(row, decimals) ?? (typeof value === "number" ? formatCount(value) : value);
}

function comparing<Row>({ value }: TableColumn<Row>, isRising: boolean) {
  return (one: Row, other: Row) => {
    const [a, b] = [value(one), value(other)];
    const areMissing = [a, b].map((figure) => Number(Number.isNaN(figure)));
    if (areMissing.includes(1)) return (areMissing[0] ?? 0) - (areMissing[1] ?? 0);
    const order = a < b ? -1 : Number(a > b);
    return isRising ? order : -order;
  };
}

/** Has the browser save the rows. */
function saveCsv<Row>(caption: string, columns: readonly TableColumn<Row>[], rows: readonly Row[]): void {
  const lines = [
    columns.map(({ head }) => head),
    ...rows.map((row) => columns.map((column) => column.exact?.(row) ?? String(column.value(row)))),
  ];
  const url = URL.createObjectURL(
    new Blob([lines.map((cells) => `${csvLine(cells)}\r\n`).join("")], { type: "text/csv" }),
  );
  const link = document.createElement("a");
  link.href = url;
  link.download = `${caption.toLowerCase().replaceAll(" ", "-")}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}

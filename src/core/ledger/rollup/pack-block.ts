import { parseJson } from "../../json.ts";
import { ROLLUP_AXES } from "./axes.ts";
import { SUM_COLUMNS, TIME_COLUMNS, type Column, type SumBlock } from "./sum-block.ts";

// A packed block is a line of JSON, with what is no number, and the bytes of its columns in their order.

/** How many bytes each number of a column has, 0 where all of them are zero, and how many numbers there are. */
type Layout = readonly (readonly [width: 0 | 1 | 2 | 4 | 8, count: number])[];

/** The first line. */
type Head = Omit<SumBlock, "kind" | "names" | "sums" | "times"> & { layout: Layout };

const ARRAYS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array } as const;
const NEWLINE = 0x0a;

/** The sums of a block, and apart from them its times, which few reports need. */
interface PackedBlock {
  sums: Uint8Array;
  times: Uint8Array;
}

/** Returns a block as bytes, in the byte order of the machine. */
export function packBlock({ kind: _kind, names, sums, times, ...head }: SumBlock): PackedBlock {
  const allTimes = times();
  return {
    sums: pack(head, [...names, ...SUM_COLUMNS.map((name) => sums[name])]),
    times: pack(
      {},
      TIME_COLUMNS.map((name) => allTimes[name]),
    ),
  };
}

/** Returns the block of details that was packed. @param readTimes returns its packed times */
export function unpackBlock(packed: Uint8Array, readTimes: () => Uint8Array): SumBlock {
  const { head, columns } = unpack(packed);
  const { layout: _layout, ...rest } = head as unknown as Head;
  const names = columns.splice(0, ROLLUP_AXES.details.length);
  const times = () => byName(TIME_COLUMNS, unpack(readTimes()).columns);
  return { kind: "details", ...rest, names, sums: byName(SUM_COLUMNS, columns), times };
}

function pack(head: object, columns: readonly Column[]): Uint8Array {
  const packed = columns.map(packColumn);
  const layout: Layout = packed.map(({ width }, at) => [width, columns[at]?.length ?? 0]);
  const line = new TextEncoder().encode(`${JSON.stringify({ ...head, layout })}\n`);
  const bytes = new Uint8Array(packed.reduce((sum, column) => sum + column.bytes.length, line.length));
  bytes.set(line);
  let end = line.length;
  for (const column of packed) {
    bytes.set(column.bytes, end);
    end += column.bytes.length;
  }
  return bytes;
}

function packColumn(column: Column): { width: Layout[number][0]; bytes: Uint8Array } {
  const width = widthOf(column);
  if (width === 0) return { width, bytes: new Uint8Array() };
  return { width, bytes: new Uint8Array(ARRAYS[width].from(column).buffer) };
}

function widthOf(column: Column): Layout[number][0] {
  let most = 0;
  for (let at = 0; at < column.length; at += 1) {
    const value = column[at] ?? 0;
    // Also what is no whole number, in a record that is damaged.
    if (!Number.isInteger(value) || value < 0) return 8;
    if (value > most) most = value;
  }
  if (most === 0) return 0;
  if (most < 2 ** 8) return 1;
  if (most < 2 ** 16) return 2;
  return most < 2 ** 32 ? 4 : 8;
}

function unpack(packed: Uint8Array): { head: { layout: Layout }; columns: Column[] } {
  let end = packed.indexOf(NEWLINE);
  const head = parseJson(new TextDecoder().decode(packed.subarray(0, end))) as { layout: Layout };
  end += 1;
  const columns = head.layout.map(([width, count]): Column => {
    if (width === 0) return new Uint8Array(count);
    // A copy, because numbers of several bytes may begin at multiples of their width only.
    const bytes = new Uint8Array(packed.subarray(end, (end += width * count)));
    return new ARRAYS[width](bytes.buffer);
  });
  return { head, columns };
}

function byName<Name extends string>(
  names: readonly Name[],
  columns: readonly Column[],
): Record<Name, Column> {
  return Object.fromEntries(names.map((name, at) => [name, columns[at] ?? []])) as unknown as Record<
    Name,
    Column
  >;
}

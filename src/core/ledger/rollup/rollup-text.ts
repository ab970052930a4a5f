import { parseJson } from "../../json.ts";
import { toPrintable } from "../../text/printable.ts";
import { RECORD_VERSION } from "../record.ts";
import type { Rollup } from "../rollup.ts";

/** Version of the format. A later one must still be able to read this one: the records may be deleted. */
export const ROLLUP_VERSION = 1;

/** The header, the sums and the times. */
const LINES = 3;

/** A file of the ledger, as far as it tells that its content has not changed. */
export interface FileState {
  name: string;
  bytes: number;
  /** When it was last written, in milliseconds since 1970. */
  mtime: number;
}

/** The first line of a rollup's file. */
interface Header {
  rollup: typeof ROLLUP_VERSION;
  /** The version of the records that it sums up. */
  records: number;
  day: string;
  /** The files whose records it sums up; none if they are deleted. */
  files: readonly FileState[];
  /** Where the day is divided, in milliseconds since 1970. */
  cuts: readonly number[];
  /** CRC-32 of the second line and of the third, without their ends. */
  crc: readonly [sums: number, times: number];
}

/** A rollup's file whose sums have not been read yet. */
export interface RollupFile {
  /** The files whose records it sums up; none if they are deleted. */
  files: readonly FileState[];
  /** True if it leaves out no record that this program would count: its program knew the present version, or read every line. */
  isCurrent: boolean;
  cuts: readonly number[];
  /** True if the sums are those that were written. */
  isIntact: boolean;
  /** Returns the sums, if they are intact. */
  read(): Rollup;
}

/** Computes the CRC-32 of bytes, and of a text as UTF-8. */
type Checksum = (data: string | Buffer) => number;

/** Returns the three lines of a rollup's file: what it is of, the sums, and the times. */
export function formatRollup(rollup: Rollup, files: readonly FileState[], checksum: Checksum): string {
  const { times, ...sums } = rollup;
  const { day, segments } = sums;
  const lines = [sums, times].map((part) => toPrintable(JSON.stringify(part))) as [string, string];
  const cuts = segments.slice(1).map(({ from }) => from);
  const header: Header = {
    rollup: ROLLUP_VERSION,
    records: RECORD_VERSION,
    day,
    files,
    cuts,
    crc: [checksum(lines[0]), checksum(lines[1])],
  };
  return `${[toPrintable(JSON.stringify(header)), ...lines].join("\n")}\n`;
}

/**
 * Parses a rollup's file; null for a torn one, one of another day, and one of another version of the format. The sums stay bytes until
 * they are read: the strings of a year would be copied at each collection of garbage.
 */
export function parseRollup(file: Buffer, day: string, checksum: Checksum): RollupFile | null {
  const [first, sums, times] = linesOf(file);
  if (first === undefined || sums === undefined || times === undefined) return null;
  const header = parseJson(first.toString()) as Partial<Header> | null | undefined;
  if (header?.rollup !== ROLLUP_VERSION) return null;
  const { files, records, cuts, crc } = header as Header;
  if (header.day !== day || !Array.isArray(files) || !Array.isArray(cuts) || !Array.isArray(crc)) return null;
  const isIntact = checksum(sums) === crc[0] && checksum(times) === crc[1];
  const read = () => readSums(sums, times);
  const isCurrent = records === RECORD_VERSION || (isIntact && read().skipped.count === 0);
  return { files, isCurrent, cuts, isIntact, read };
}

/** Splits a file of complete lines. Returns nothing for one that was torn. */
function linesOf(file: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < file.length;) {
    const end = file.indexOf("\n", start);
    if (end === -1) return [];
    lines.push(file.subarray(start, end));
    start = end + 1;
  }
  return lines.length === LINES ? lines : [];
}

function readSums(sums: Buffer, times: Buffer): Rollup {
  let read: readonly string[] | undefined;
  return {
    ...(parseJson(sums.toString()) as Omit<Rollup, "times">),
    get times() {
      return (read ??= parseJson(times.toString()) as readonly string[]);
    },
  };
}

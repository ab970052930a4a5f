import { parseJson } from "../../json.ts";
import { toPrintable } from "../../text/printable.ts";
import type { PriceSlots } from "../../price/spending.ts";
import { RECORD_VERSION } from "../record.ts";
import type { Rollup, RollupTerms } from "../rollup.ts";

/** Version of the format. A later one must still be able to read this one: the records may be deleted. */
export const ROLLUP_VERSION = 5;

/**
 * The versions that this program reads. In the first two, terms that differ only in their time were many; the first three count no
 * refusals. The first four also have speeds of a few tokens, and of what came within a moment.
 */
const VERSIONS: readonly number[] = [1, 2, 3, 4, ROLLUP_VERSION];

/**
 * The sizes that prompts were told apart by in version 1, where the terms of a charge say how many of them its prompts exceed, and
 * the header lists none.
 */
const LIMITS_OF_1 = [128_000, 199_999, 200_000, 271_999, 272_000, 512_000];

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
  rollup: number;
  /** The version of the records that it sums up. */
  records: number;
  day: string;
  /** The files whose records it sums up; none if they are deleted. */
  files: readonly FileState[];
  /** Where the day is divided, in milliseconds since 1970. */
  cuts: readonly number[];
  /** The sizes that prompts are told apart by. */
  limits?: readonly number[];
  /** CRC-32 of the second line and of the third, without their ends. */
  crc: readonly [sums: number, times: number];
}

/** A file with the sums of a day, which have not been read yet. */
export interface SumsFile {
  /** The files whose records it sums up; none if they are deleted. */
  files: readonly FileState[];
  /**
   * False where records that are there should be summed again: the format is older, or the sums leave out a record that this program
   * would count, because theirs did not know its version.
   */
  isCurrent: boolean;
  cuts: readonly number[];
  /** The sizes that prompts are told apart by. Charges for others have a price only where it is the same on both sides. */
  limits: readonly number[];
  /** True if the sums are those that were written. */
  isIntact: boolean;
  /** Returns what decides prices, for the charges of the sums. */
  terms(): Iterable<RollupTerms>;
}

/** A rollup's file. */
export interface RollupFile extends SumsFile {
  /** Returns the sums, if they are intact. */
  read(): Rollup;
}

/** Computes the CRC-32 of bytes, and of a text as UTF-8. */
export type Checksum = (data: string | Buffer) => number;

/** Returns the three lines of a rollup's file: what it is of, the sums, and the times. */
export function formatRollup(rollup: Rollup, files: readonly FileState[], checksum: Checksum): string {
  const { day, segments, limits } = rollup;
  const lines = formatSums(rollup);
  const cuts = segments.slice(1).map(({ from }) => from);
  const header: Header = {
    rollup: ROLLUP_VERSION,
    records: RECORD_VERSION,
    day,
    files,
    cuts,
    limits,
    crc: [checksum(lines[0]), checksum(lines[1])],
  };
  return `${[toPrintable(JSON.stringify(header)), ...lines].join("\n")}\n`;
}

/** Returns the sums and the times as a line each. */
export function formatSums({
  kind: _kind,
  times,
  limits: _limits,
  ...sums
}: Rollup): [sums: string, times: string] {
  return [toPrintable(JSON.stringify(sums)), toPrintable(JSON.stringify(times.texts))];
}

/**
 * Parses a rollup's file; null for a torn one, one of another day, and one of another version of the format. The sums stay bytes until
 * they are read: the strings of a year would be copied at each collection of garbage.
 */
export function parseRollup(file: Buffer, day: string, checksum: Checksum): RollupFile | null {
  const [first, sums, times] = linesOf(file);
  if (first === undefined || sums === undefined || times === undefined) return null;
  const header = parseJson(first.toString()) as Partial<Header> | null | undefined;
  if (header?.rollup === undefined || !VERSIONS.includes(header.rollup)) return null;
  const { files, records, cuts, crc, limits = LIMITS_OF_1 } = header as Header;
  if (header.day !== day || !Array.isArray(files) || !Array.isArray(cuts) || !Array.isArray(crc)) return null;
  const isIntact = checksum(sums) === crc[0] && checksum(times) === crc[1];
  const read = () => readSums(sums, times, limits);
  const isCurrent =
    header.rollup === ROLLUP_VERSION &&
    (records === RECORD_VERSION || (isIntact && read().skipped.count === 0));
  return { files, isCurrent, cuts, limits, isIntact, terms: () => read().terms, read };
}

/**
 * True when the sums tell prompts apart wherever the prices of their models do: they may have been written when prices had other
 * limits. `limits` are those of all prices.
 */
export function tellsPromptsApart(
  file: Pick<SumsFile, "limits" | "terms">,
  limits: readonly number[],
  slots: PriceSlots,
): boolean {
  const isKnown = (limit: number) => file.limits.includes(limit);
  if (limits.every(isKnown)) return true;
  const hasKnown = ([upstream, model]: RollupTerms) =>
    model === null || slots.limitsOf(upstream, model).every(isKnown);
  return Array.from(file.terms()).every(hasKnown);
}

/** Splits a file of complete lines. Returns nothing for one that was torn. */
export function linesOf(file: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < file.length;) {
    const end = file.indexOf("\n", start);
    if (end === -1) return [];
    lines.push(file.subarray(start, end));
    start = end + 1;
  }
  return lines.length === LINES ? lines : [];
}

/** Reads the second line and the third. */
export function readSums(sums: Buffer, times: Buffer, limits: readonly number[]): Rollup {
  let read: readonly string[] | undefined;
  // Not a part of the file's bytes, which would stay in memory as long as this.
  const bytes = Buffer.from(times);
  const { terms, ...others } = parseJson(sums.toString()) as Omit<Rollup, "kind" | "times" | "limits">;
  return {
    kind: "rollup",
    ...others,
    limits,
    terms: terms.map(readTerms),
    times: {
      get texts() {
        return (read ??= parseJson(bytes.toString()) as readonly string[]);
      },
    },
  };
}

/** Where the sizes of the prompts are in the terms of a charge. */
const SIZES = 6;

/** Reads the terms of a charge, also those of version 1. */
function readTerms(terms: RollupTerms): RollupTerms {
  const exceeded: unknown = terms[SIZES];
  if (typeof exceeded !== "number") return terms;
  const least = exceeded === 0 ? 0 : (LIMITS_OF_1[exceeded - 1] ?? 0) + 1;
  const most = LIMITS_OF_1[exceeded] ?? Number.MAX_SAFE_INTEGER;
  return terms.with(SIZES, [least, most]) as unknown as RollupTerms;
}

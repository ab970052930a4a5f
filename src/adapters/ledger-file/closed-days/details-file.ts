import { endianness } from "node:os";
import { join } from "node:path";
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { parseJson } from "../../../core/json.ts";
import { sumsFileName } from "../../../core/ledger/day.ts";
import { RECORD_VERSION } from "../../../core/ledger/record.ts";
import type { Rollup } from "../../../core/ledger/rollup.ts";
import { ROLLUP_AXES } from "../../../core/ledger/rollup/axes.ts";
import { packBlock, unpackBlock } from "../../../core/ledger/rollup/pack-block.ts";
import type { SumsFile } from "../../../core/ledger/rollup/rollup-text.ts";
import { blockOf, type SumBlock } from "../../../core/ledger/rollup/sum-block.ts";
import { readIfRegular } from "./rollup-file.ts";

/** Version of the format. Details of another one are made again. */
const DETAILS_VERSION = 2;

const NEWLINE = 0x0a;

/** What decides whether details can be read by this program. */
const FORM = {
  details: DETAILS_VERSION,
  records: RECORD_VERSION,
  axes: ROLLUP_AXES.details,
  order: endianness(),
};

/** Where a block is after the first line: its compressed sums, followed by its compressed times. */
type Lengths = readonly [sums: number, times: number];

/** The first line of details. */
interface Header extends Pick<SumsFile, "files" | "cuts" | "limits"> {
  form: typeof FORM;
  day: string;
  blocks: readonly Lengths[];
  /** CRC-32 of all that follows. */
  crc: number;
}

/** A file of details. */
interface DetailsFile extends SumsFile {
  /** Returns the parts of the sums as they are packed. Two files of the same sums have the same. */
  parts(): Iterable<Uint8Array>;
  /** Returns the sums in columns, if they are intact; in several parts where they are many. */
  blocks(): Iterable<SumBlock>;
}

/** Puts the details of a day together, in a file that is kept in memory until it is written. */
export class DetailsWriter {
  readonly #bytes: Buffer[] = [];
  readonly #blocks: Lengths[] = [];

  /** Adds sums of some of the day's records. */
  add(rollup: Rollup): void {
    const { sums, times } = packBlock(blockOf("details", [rollup]));
    const parts = [deflateRawSync(sums), deflateRawSync(times)] as const;
    this.#bytes.push(...parts);
    this.#blocks.push([parts[0].length, parts[1].length]);
  }

  finish(day: string, { files, cuts, limits }: Pick<Header, "files" | "cuts" | "limits">): Buffer {
    const bytes = Buffer.concat(this.#bytes);
    const header: Header = { form: FORM, day, files, cuts, limits, blocks: this.#blocks, crc: crc32(bytes) };
    return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), bytes]);
  }
}

/** Reads the details of a day; null when there are none, or none that can be used. */
export function readDetails(directory: string, day: string): DetailsFile | null {
  const file = readIfRegular(join(directory, sumsFileName(day, "details")));
  return file === null ? null : parseDetails(file, day);
}

/** Parses details; null for a torn file and one of another day. Details of another form are not current. */
export function parseDetails(file: Buffer, day: string): DetailsFile | null {
  const end = file.indexOf(NEWLINE);
  const header = parseJson(file.toString("utf8", 0, Math.max(0, end))) as Partial<Header> | null | undefined;
  if (header?.day !== day || !Array.isArray(header.files)) return null;
  const { form, files, cuts, limits, blocks, crc } = header as Header;
  const bytes = file.subarray(end + 1);
  const isCurrent = JSON.stringify(form) === JSON.stringify(FORM);
  return {
    files,
    isCurrent,
    cuts,
    limits,
    isIntact: !isCurrent || crc32(bytes) === crc,
    parts: () => inflateAll(bytes, blocks),
    terms: () => Array.from(readBlocks(bytes, blocks), ({ terms }) => terms).flat(),
    blocks: () => readBlocks(bytes, blocks),
  };
}

function* readBlocks(bytes: Buffer, blocks: readonly Lengths[]): Generator<SumBlock> {
  let at = 0;
  for (const [sums, times] of blocks) {
    const timesAt = at + sums;
    const packedTimes = Buffer.from(bytes.subarray(timesAt, timesAt + times));
    yield unpackBlock(inflateRawSync(bytes.subarray(at, timesAt)), () => inflateRawSync(packedTimes));
    at = timesAt + times;
  }
}

function* inflateAll(bytes: Buffer, blocks: readonly Lengths[]): Generator<Buffer> {
  let at = 0;
  for (const length of blocks.flat()) yield inflateRawSync(bytes.subarray(at, (at += length)));
}

import { isAscii } from "node:buffer";
import type { ByteSource } from "../byte-source.ts";

const NEWLINE = 0x0a;

/** Whole lines, with their ends, or at last what has no end. */
export interface LineBlock {
  /** Valid until the next block is requested; null for a line that is longer than a block, so that memory stays small. */
  bytes: Buffer | null;
  length: number;
  /** False for a last line without an end: its writer may be about to end it, or a crash has truncated it. */
  isWhole: boolean;
}

/** Yields the source in blocks of so many bytes at most. Blocks share one buffer. */
export async function* lineBlocks(source: ByteSource, blockBytes: number): AsyncGenerator<LineBlock> {
  const buffer = Buffer.allocUnsafe(blockBytes);
  let held = 0;
  let skipped = 0;
  for (;;) {
    const { bytesRead } = await source.read(buffer, held, buffer.length - held);
    held += bytesRead;
    if (bytesRead === 0) {
      const bytes = skipped > 0 ? null : buffer.subarray(0, held);
      if (held + skipped > 0) yield { bytes, length: held + skipped, isWhole: false };
      return;
    }
    let from = 0;
    if (skipped > 0) {
      from = buffer.subarray(0, held).indexOf(NEWLINE) + 1;
      if (from > 0) yield { bytes: null, length: skipped + from, isWhole: true };
      skipped = from > 0 ? 0 : skipped + held;
      if (from === 0) from = held;
    }
    const end = buffer.subarray(0, held).lastIndexOf(NEWLINE) + 1;
    if (end > from) yield { bytes: buffer.subarray(from, end), length: end - from, isWhole: true };
    from = Math.max(from, end);
    buffer.copyWithin(0, from, held);
    held -= from;
    if (held < buffer.length) continue;
    skipped = held;
    held = 0;
  }
}

/** Returns the lines of a block, without their ends. */
export function* linesOf({ bytes, isWhole }: Pick<LineBlock, "bytes" | "isWhole">): Generator<string> {
  if (bytes === null) return;
  // Takes 0.3 µs for a line instead of 1.5.
  const encoding = isAscii(bytes) ? "latin1" : "utf8";
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    yield bytes.toString(encoding, start, end);
    start = end + 1;
  }
  if (!isWhole) yield bytes.toString(encoding, start);
}

/** Returns the lines of a block of whole lines, without their ends, the last one first. */
export function* linesFromEnd({ bytes }: Pick<LineBlock, "bytes">): Generator<string> {
  if (bytes === null) return;
  for (let end = bytes.length - 1; end >= 0;) {
    const start = bytes.subarray(0, end).lastIndexOf(NEWLINE) + 1;
    yield bytes.toString("utf8", start, end);
    end = start - 1;
  }
}

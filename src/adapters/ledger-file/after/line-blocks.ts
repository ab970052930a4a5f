import type { ByteSource } from "../byte-source.ts";

const NEWLINE = 0x0a;
/** How much is read at once, and the longest line that is read: several times as long as a record may be (`truncateRecord`). */
const BLOCK_BYTES = 512 * 1024;

/** Whole lines, with their ends. */
interface LineBlock {
  /** Valid until the next block is requested; null for a line that is too long to be a record. */
  bytes: Buffer | null;
  length: number;
}

/**
 * Yields the source in blocks of whole lines. A last line without an end is left out: its writer may be about to end it, or a crash has
 * truncated it. With `isComplete` nothing will follow, and it is yielded as one that cannot be read.
 */
export async function* lineBlocks(source: ByteSource, isComplete: boolean): AsyncGenerator<LineBlock> {
  const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  let held = 0;
  let skipped = 0;
  for (;;) {
    const { bytesRead } = await source.read(buffer, held, buffer.length - held);
    held += bytesRead;
    if (bytesRead === 0) {
      if (isComplete && held + skipped > 0) yield { bytes: null, length: held + skipped };
      return;
    }
    let from = 0;
    if (skipped > 0) {
      from = buffer.subarray(0, held).indexOf(NEWLINE) + 1;
      if (from > 0) yield { bytes: null, length: skipped + from };
      skipped = from > 0 ? 0 : skipped + held;
      if (from === 0) from = held;
    }
    const end = buffer.subarray(0, held).lastIndexOf(NEWLINE) + 1;
    if (end > from) yield { bytes: buffer.subarray(from, end), length: end - from };
    from = Math.max(from, end);
    buffer.copyWithin(0, from, held);
    held -= from;
    if (held < buffer.length) continue;
    skipped = held;
    held = 0;
  }
}

/** Returns the lines of a block, without their ends. */
export function* linesOf(block: Buffer): Generator<string> {
  let start = 0;
  for (let end = block.indexOf(NEWLINE); end !== -1; end = block.indexOf(NEWLINE, start)) {
    yield block.toString("utf8", start, end);
    start = end + 1;
  }
}

import type { DayLine } from "../../core/ledger/verify/day-verifier.ts";
import { lineBlocks, linesOf } from "./after/line-blocks.ts";
import { openDayFiles, type OpenDayFile } from "./open-day-files.ts";
import { PositionedFile } from "./positioned-file.ts";
import { BLOCK_BYTES } from "./reader.ts";

const NEWLINE = 0x0a;

/** A daemon may be writing the last line right now. That takes far less time than all of these together. */
const LOOKS = 10;
const LOOK_AGAIN_MS = 20;

/**
 * Yields every line of a day's files, also those that are not records. A last line without an end is torn if no daemon ends it while
 * this waits, and no line if a daemon moves it away. Yields nothing if there is no such file. Throws as `readLedger` does.
 */
export async function* readDayLines(directory: string, day: string): AsyncGenerator<DayLine> {
  for (const file of await openDayFiles(directory, day)) {
    try {
      yield* linesOfFile(file);
    } finally {
      await file.handle.close();
    }
  }
}

async function* linesOfFile({ name, handle, source }: OpenDayFile): AsyncGenerator<DayLine> {
  const growing = source === handle ? new GrowingFile(handle) : null;
  let line = 0;
  for await (const block of lineBlocks(growing ?? source, BLOCK_BYTES)) {
    if (block.bytes === null) yield { file: name, line: (line += 1), text: null, fault: "too_long" };
    else if (block.isWhole) {
      for (const text of linesOf(block)) yield { file: name, line: (line += 1), text };
    } else {
      const end = growing === null ? { isTorn: true } : await growing.endOf(block.bytes);
      if (typeof end === "string") yield { file: name, line: line + 1, text: end };
      else if (end.isTorn) yield { file: name, line: line + 1, text: null, fault: "torn" };
      return;
    }
  }
}

/** A file that a daemon may be writing. */
class GrowingFile extends PositionedFile {
  /** Waits for the end of a last line, of which so much has been read, and returns it; else whether it is still there. */
  async endOf(begun: Buffer): Promise<string | { isTorn: boolean }> {
    let bytes = Buffer.from(begun);
    for (let look = 0; look < LOOKS; look += 1) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      const { size } = await this.file.stat();
      if (size < this.position) return { isTorn: false };
      const more = Buffer.alloc(size - this.position);
      const { bytesRead } = await this.read(more, 0, more.length);
      bytes = Buffer.concat([bytes, more.subarray(0, bytesRead)]);
      const end = bytes.indexOf(NEWLINE);
      if (end !== -1) return bytes.toString("utf8", 0, end);
    }
    return { isTorn: true };
  }
}

import { open } from "node:fs/promises";

/** Enough for the lines that anybody reads at once. */
const MOST_BYTES = 64 * 1024;

/** What the daemon writes before each line of its log file (adapters/log/line-form.ts). */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z(?= )/;

/**
 * The newest lines of several log files, oldest first: those of the file that was written last come last. Files that
 * are not there or cannot be read have none, nor have those that were not written since `sinceMs` (milliseconds since
 * 1970); a line with an earlier time is left out, too.
 */
export async function lastLinesOf(
  files: readonly string[],
  count: number,
  sinceMs: number,
): Promise<string[]> {
  const ends = (await Promise.all(files.map(endOf))).filter(({ writtenMs }) => writtenMs >= sinceMs);
  const lines = ends
    .sort((one, other) => one.writtenMs - other.writtenMs)
    .flatMap((end) => end.lines)
    .filter((line) => !isFromBefore(line, sinceMs));
  return count > 0 ? lines.slice(-count) : [];
}

function isFromBefore(line: string, sinceMs: number): boolean {
  const [time] = TIME.exec(line) ?? [];
  return time !== undefined && Date.parse(time) < sinceMs;
}

/** The end of a file, at most {@link MOST_BYTES}; a line that is cut by that is left out. */
async function endOf(path: string): Promise<{ lines: string[]; writtenMs: number }> {
  try {
    const handle = await open(path);
    try {
      const { size, mtimeMs } = await handle.stat();
      const start = Math.max(0, size - MOST_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, start);
      const lines = buffer.toString("utf8", 0, bytesRead).split("\n");
      const whole = start === 0 ? lines : lines.slice(1);
      return { lines: whole.filter((line) => line !== ""), writtenMs: mtimeMs };
    } finally {
      await handle.close();
    }
  } catch {
    return { lines: [], writtenMs: 0 };
  }
}

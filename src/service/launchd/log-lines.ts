import { open } from "node:fs/promises";

/** How much of a file's end is read: more lines than anyone asks for. */
const TAIL_BYTES = 64 * 1024;

/** The timestamp at the beginning of each line of the daemon's log. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z(?= )/;

/**
 * Returns the newest `count` lines of several log files, oldest first; the file written last comes last. Omits files that
 * are missing, unreadable or unmodified since `sinceMs` (milliseconds since 1970), and lines with an earlier timestamp.
 */
export async function readLastLines(
  files: readonly string[],
  count: number,
  sinceMs: number,
): Promise<string[]> {
  const tails = (await Promise.all(files.map(readTail))).filter(({ modifiedMs }) => modifiedMs >= sinceMs);
  const lines = tails
    .sort((one, other) => one.modifiedMs - other.modifiedMs)
    .flatMap((tail) => tail.lines)
    .filter((line) => !isOlder(line, sinceMs));
  return count > 0 ? lines.slice(-count) : [];
}

function isOlder(line: string, sinceMs: number): boolean {
  const [time] = TIME.exec(line) ?? [];
  return time !== undefined && Date.parse(time) < sinceMs;
}

/** Reads the last {@link TAIL_BYTES} of a file, without a truncated first line. */
async function readTail(path: string): Promise<{ lines: string[]; modifiedMs: number }> {
  try {
    const handle = await open(path);
    try {
      const { size, mtimeMs } = await handle.stat();
      const start = Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, start);
      const lines = buffer.toString("utf8", 0, bytesRead).split("\n");
      const whole = start === 0 ? lines : lines.slice(1);
      return { lines: whole.filter((line) => line !== ""), modifiedMs: mtimeMs };
    } finally {
      await handle.close();
    }
  } catch {
    return { lines: [], modifiedMs: 0 };
  }
}

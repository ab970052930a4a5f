import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Failure, hasCode, messageOf } from "../core/failure.ts";
import { reasonOf } from "../core/system-error.ts";
import { fixOf } from "./system-fix.ts";

const NEWLINE = 0x0a;
/** A longer line has a file or an image in it, and no usage. */
const LONGEST_LINE = 16 * 1024 * 1024;

/** Codex compresses old ones. */
const LOG = /\.jsonl(?:\.zst)?$/;

/** The logs of a tool in a directory. */
interface FoundLogs {
  files: string[];
  /** How many links there are to a log or to a directory: they are not followed. */
  links: number;
}

/**
 * Lists the log files of a tool in a directory, at any depth, in the order of their names. A missing directory has none. Throws a Failure
 * when a directory cannot be read.
 */
export async function listToolLogs(directory: string): Promise<FoundLogs> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile() && LOG.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted();
    const links = entries.filter((entry) => entry.isSymbolicLink());
    const hidden = await Promise.all(
      links.map(
        async ({ name, parentPath }) => LOG.test(name) || (await isDirectory(join(parentPath, name))),
      ),
    );
    return { files, links: hidden.filter(Boolean).length };
  } catch (cause) {
    if (hasCode(cause, "ENOENT") || hasCode(cause, "ENOTDIR")) return { files: [], links: 0 };
    throw unreadable(directory, cause);
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/**
 * Yields the lines of a log, the last one also if the tool is writing it; null for one that is far too long. Throws a Failure when it
 * cannot be read or decoded, after the lines that precede the damage.
 * @param decode decodes a compressed log; throws an Error that says what is wrong with it
 */
export async function* readToolLog(
  path: string,
  decode: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>,
): AsyncGenerator<string | null> {
  let parts: Buffer[] = [];
  let length = 0;
  const end = (last: Buffer) =>
    length + last.length > LONGEST_LINE ? null : Buffer.concat([...parts, last]).toString();
  try {
    const file: AsyncIterable<Buffer> = createReadStream(path);
    for await (const chunk of path.endsWith(".zst") ? decode(file) : file) {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
        yield end(chunk.subarray(start, at));
        start = at + 1;
        parts = [];
        length = 0;
      }
      const rest = chunk.subarray(start);
      length += rest.length;
      if (length <= LONGEST_LINE) parts.push(rest);
      else parts = [];
    }
  } catch (cause) {
    throw unreadable(path, cause);
  }
  if (length > 0) yield end(Buffer.alloc(0));
}

function unreadable(path: string, cause: unknown): Failure {
  const isOfSystem = cause instanceof Error && "syscall" in cause;
  const reason = isOfSystem ? reasonOf(cause) : messageOf(cause);
  return new Failure(`cannot read ${path}: ${reason}`, isOfSystem ? fixOf(cause) : undefined, { cause });
}

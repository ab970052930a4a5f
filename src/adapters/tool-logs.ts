import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline, type Transform } from "node:stream";
import { Failure, hasCode } from "../core/failure.ts";
import { reasonOf } from "../core/system-error.ts";
import { fixOf } from "./system-fix.ts";

const NEWLINE = 0x0a;
/** A longer line has a file or an image in it, and no usage. */
const LONGEST_LINE = 16 * 1024 * 1024;

/** A compressed log is none, or damaged. */
export class UndecodedLog extends Error {}

/** Codex compresses old ones. */
const LOG = /\.jsonl(?:\.zst)?$/;

/**
 * Lists the log files of a tool in a directory, at any depth, in the order of their names. A missing directory has none. Links are not
 * followed. Throws a Failure when a directory cannot be read.
 */
export async function listToolLogs(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && LOG.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted();
  } catch (cause) {
    if (hasCode(cause, "ENOENT") || hasCode(cause, "ENOTDIR")) return [];
    throw unreadable(directory, cause);
  }
}

/**
 * Yields the lines of a log, without those that are far too long, and without a last one that the tool is writing. Throws a Failure when it
 * cannot be read, and an UndecodedLog when it cannot be decoded.
 * @param createZstd returns a decoder for a compressed one
 */
export async function* readToolLog(path: string, createZstd: () => Transform): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  try {
    const file = createReadStream(path);
    // Errors of the file come out of the decoder.
    const bytes = path.endsWith(".zst") ? pipeline(file, createZstd(), () => {}) : file;
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const last = chunk.subarray(start, end);
        if (length + last.length <= LONGEST_LINE) yield Buffer.concat([...parts, last]).toString();
        start = end + 1;
        parts = [];
        length = 0;
      }
      const rest = chunk.subarray(start);
      length += rest.length;
      if (length <= LONGEST_LINE) parts.push(rest);
      else parts = [];
    }
  } catch (cause) {
    if (!(cause instanceof Error && "syscall" in cause))
      throw new UndecodedLog(`cannot decode ${path}`, { cause });
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): Failure {
  return new Failure(`cannot read ${path}: ${reasonOf(cause)}`, fixOf(cause), { cause });
}

import { listToolLogs, readToolLog } from "../../../../adapters/tool-logs.ts";
import { ClaudeCodeLog } from "../../../../core/ledger/import/claude-code-log.ts";
import { CodexLog } from "../../../../core/ledger/import/codex-log.ts";
import type { ImportedRecord, Source } from "../../../../core/ledger/import/imported-record.ts";
import { Failure } from "../../../../core/failure.ts";
import type { HostInfo } from "../../../../core/host-info.ts";
import { claudeCodeLogs } from "../../../../tools/claude-code.ts";
import { codexLogs } from "../../../../tools/codex.ts";
import { decodeZstd } from "../../../../proxy/exchange/zstd-decoder.ts";

/** What the logs of a tool have. */
export interface ToolLogs {
  files: number;
  /** Each response once. */
  records: ImportedRecord[];
  /** Lines that repeat the usage of a response. */
  repeatedLines: number;
  /** Sessions that cannot be told apart from the one that they were forked from, and are left out. */
  unclearForks: number;
  unread: Unread;
}

/** What of the logs was not read. */
export interface Unread {
  /** Files that cannot be read or decoded, or only up to some damage, with the reason and perhaps what to do. */
  files: { message: string; hint: string | undefined }[];
  /** Links to logs or directories. */
  links: number;
  /** Lines that are longer than any with usage. */
  longLines: number;
  /** Lines with usage that are not whole, or do not say of what or when. */
  unclearLines: number;
}

/** Takes the lines of a tool's logs, file by file. */
interface LogReader {
  readonly unclear: number;
  startFile(): void;
  addLine(line: string): void;
}

/** Reads all logs of a tool. Throws a Failure when a directory cannot be read. */
export async function readLogs(source: Source, host: HostInfo): Promise<ToolLogs> {
  if (source === "codex") {
    const log = new CodexLog();
    const read = await readInto(log, codexLogs(host));
    const records = log.records();
    return { ...read, records, repeatedLines: log.repeated, unclearForks: log.unclearForks };
  }
  const log = new ClaudeCodeLog();
  const read = await readInto(log, claudeCodeLogs(host));
  return { ...read, records: log.records(), repeatedLines: log.repeated, unclearForks: 0 };
}

/** One file that cannot be read keeps none of the others from it. */
async function readInto(
  log: LogReader,
  directories: readonly string[],
): Promise<Pick<ToolLogs, "files" | "unread">> {
  const found = await Promise.all(directories.map(listToolLogs));
  const files = found.flatMap((one) => one.files);
  const links = found.reduce((sum, one) => sum + one.links, 0);
  const unread: Unread = { files: [], links, longLines: 0, unclearLines: 0 };
  for (const file of files) {
    log.startFile();
    try {
      for await (const line of readToolLog(file, decodeZstd)) {
        if (line === null) unread.longLines += 1;
        else log.addLine(line);
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      unread.files.push({ message: error.message, hint: error.hint });
    }
  }
  return { files: files.length, unread: { ...unread, unclearLines: log.unclear } };
}

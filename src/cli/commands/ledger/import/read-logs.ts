import { listToolLogs, readToolLog, UndecodedLog } from "../../../../adapters/tool-logs.ts";
import { ClaudeCodeLog } from "../../../../core/ledger/import/claude-code-log.ts";
import { CodexLog } from "../../../../core/ledger/import/codex-log.ts";
import type { ImportedRecord, Source } from "../../../../core/ledger/import/imported-record.ts";
import type { HostInfo } from "../../../../core/host-info.ts";
import { claudeCodeLogs } from "../../../../tools/claude-code.ts";
import { codexLogs } from "../../../../tools/codex.ts";
import { createZstd } from "../../../../proxy/exchange/zstd-decoder.ts";

/** What the logs of a tool have. */
export interface ToolLogs {
  files: number;
  /** Each response once. */
  records: ImportedRecord[];
  /** Lines that repeat the usage of a response. */
  repeatedLines: number;
  /** Sessions that cannot be told apart from the one that they were forked from, and are left out. */
  unclearForks: number;
  /** Compressed files that cannot be decoded. */
  undecodedFiles: number;
}

/** Reads all logs of a tool. */
export async function readLogs(source: Source, host: HostInfo): Promise<ToolLogs> {
  return source === "codex" ? readCodex(codexLogs(host)) : readClaudeCode(claudeCodeLogs(host));
}

async function readClaudeCode(directories: readonly string[]): Promise<ToolLogs> {
  const log = new ClaudeCodeLog();
  const files = await filesIn(directories);
  for (const file of files) for await (const line of readToolLog(file, createZstd)) log.addLine(line);
  const records = log.records();
  return { files: files.length, records, repeatedLines: log.repeated, unclearForks: 0, undecodedFiles: 0 };
}

async function readCodex(directories: readonly string[]): Promise<ToolLogs> {
  const log = new CodexLog();
  const files = await filesIn(directories);
  let undecodedFiles = 0;
  for (const file of files) {
    log.startFile();
    try {
      for await (const line of readToolLog(file, createZstd)) log.addLine(line);
    } catch (error) {
      // An error of the system can be fixed. A file that is no zstd cannot be read by trying again.
      if (!(error instanceof UndecodedLog)) throw error;
      undecodedFiles += 1;
    }
  }
  const records = log.records();
  const { repeated: repeatedLines, unclearForks } = log;
  return { files: files.length, records, repeatedLines, unclearForks, undecodedFiles };
}

async function filesIn(directories: readonly string[]): Promise<string[]> {
  return (await Promise.all(directories.map(listToolLogs))).flat();
}

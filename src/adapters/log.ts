import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { pino } from "pino";
import type { Log } from "../ports.ts";
import { fileLine, isJournal, journalLine, jsonLine, terminalLine, type LineForm } from "./log/line-form.ts";
import { LineOutput, type Write } from "./log/line-output.ts";
import { LogFile } from "./log/log-file.ts";

const STANDARD_ERROR = 2;

/** The daemon's log, and what its file needs. */
export interface DaemonLog extends Log {
  /** Does it go where it is kept and looked up, a file or the journal, rather than to who started the daemon? */
  readonly isKept: boolean;
  /** Goes on in the file that has the log's name now, if the log is a file. Throws, and stays, when that cannot be had. */
  reopen(): void;
}

/**
 * The daemon's log: in `file`, or where that is null on standard error, in the form that fits what reads it: short lines
 * on a terminal, lines with a priority in the journal, JSON elsewhere. What strangers say in it can neither forge a line
 * nor act on a terminal (facts/threats.md E3), and what cannot be written ends nothing; how much that was is said once it
 * can be. Throws a Failure when the file cannot be had.
 * Paths named in `redact` are a second net only; nothing that holds a credential is ever passed in.
 */
export function openLog({ debug, file }: { debug: boolean; file: string | null }): DaemonLog {
  const settings = {
    level: debug ? "debug" : "info",
    redact: ["headers", "*.headers", "key_value", "secret"],
    base: { pid: process.pid },
  };
  const logFile = file === null ? null : new LogFile(file);
  const write: Write = (bytes) => logFile?.write(bytes) ?? writeSync(STANDARD_ERROR, bytes);
  const output = new LineOutput(write, (dropped) =>
    log.warn({ dropped }, "the log is written again; lines of it are lost"),
  );
  const form = logFile === null ? formOfStandardError() : fileLine;
  const log = pino(settings, { write: (line) => output.write(form(line)) });
  return Object.assign(log, {
    isKept: form === fileLine || form === journalLine,
    reopen: () => logFile?.reopen(),
  });
}

function formOfStandardError(): LineForm {
  if (isatty(STANDARD_ERROR)) return terminalLine;
  return isJournal(STANDARD_ERROR, process.env["JOURNAL_STREAM"]) ? journalLine : jsonLine;
}

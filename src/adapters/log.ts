import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { pino, type LoggerOptions } from "pino";
import { writeOwnCommands } from "../core/text/own-commands.ts";
import type { Log } from "../ports.ts";
import {
  formatForFile,
  formatForJournal,
  formatForTerminal,
  formatJson,
  isJournal,
  type FormatLine,
} from "./log/line-format.ts";
import { LineOutput, type Write } from "./log/line-output.ts";
import { LogFile } from "./log/log-file.ts";

const STANDARD_ERROR = 2;

/** The daemon's log. */
export interface DaemonLog extends Log {
  /** True when the log goes to a file or the journal rather than to whatever started the daemon. */
  readonly isPersistent: boolean;
  /** Reopens the log file by its name, if there is one. Throws, and keeps the old file, when that is impossible. */
  reopen(): void;
}

interface LogOptions {
  debug: boolean;
  file: string | null;
  /** `--config FILE` as a shell takes it, for the commands in messages and hints; "" where the daemon uses the usual file. */
  configOption: string;
}

/**
 * Opens the daemon's log in `file`, or on standard error when that is null: short lines for a terminal, lines with a
 * priority for the journal, JSON otherwise. Untrusted text in a message can neither forge a line nor control a terminal
 * (SECURITY.md E3). A line that cannot be written is dropped without an error, and the number of dropped lines is logged
 * as soon as writing works again. Throws a Failure when the file cannot be opened.
 * The `redact` setting is a second line of defence: callers never pass anything that holds a credential.
 */
export function openLog({ debug, file, configOption }: LogOptions): DaemonLog {
  const settings = {
    level: debug ? "debug" : "info",
    redact: ["headers", "*.headers", "key_value", "secret"],
    base: { pid: process.pid },
    ...(configOption !== "" && nameConfig(configOption)),
  };
  const logFile = file === null ? null : new LogFile(file);
  const write: Write = (bytes) => logFile?.write(bytes) ?? writeSync(STANDARD_ERROR, bytes);
  const output = new LineOutput(write, (dropped) =>
    log.warn({ dropped }, "the log can be written again; some lines are lost"),
  );
  const format = logFile === null ? chooseStandardErrorFormat() : formatForFile;
  const log = pino(settings, { write: (line) => output.write(format(line)) });
  return Object.assign(log, {
    isPersistent: format === formatForFile || format === formatForJournal,
    reopen: () => logFile?.reopen(),
  });
}

/** Has each command in messages and facts name the configuration file, so that it acts on this daemon's. */
function nameConfig(option: string): Pick<LoggerOptions, "formatters" | "hooks"> {
  const name = (value: unknown) =>
    typeof value === "string" ? writeOwnCommands(value, "tollkeeper", option) : value;
  return {
    formatters: {
      log: (facts) => Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, name(value)])),
    },
    hooks: {
      logMethod(args, method) {
        const [facts, message, ...others] = args;
        method.apply(this, [facts, name(message) as string, ...others]);
      },
    },
  };
}

function chooseStandardErrorFormat(): FormatLine {
  if (isatty(STANDARD_ERROR)) return formatForTerminal;
  return isJournal(STANDARD_ERROR, process.env["JOURNAL_STREAM"]) ? formatForJournal : formatJson;
}

import { fstatSync } from "node:fs";
import { toPrintable } from "../../core/text/printable.ts";

/** Turns one of pino's JSON lines, with its newline, into the line to write, without a newline. */
export type FormatLine = (line: string) => string;

/** Fields that pino adds by itself. Formats for people show them in fixed places or leave them out. */
const PINO_FIELDS = new Set(["level", "time", "pid", "hostname", "msg"]);

/** pino's levels: name, and syslog priority as sd-daemon(3) defines it for a line's prefix. */
const LEVELS: Record<number, { name: string; priority: number }> = {
  20: { name: "debug", priority: 7 },
  30: { name: "info", priority: 6 },
  40: { name: "warn", priority: 4 },
  50: { name: "error", priority: 3 },
  60: { name: "fatal", priority: 2 },
};

/** Formats a line for programs: pino's JSON. */
export const formatJson: FormatLine = (line) => toPrintable(line.trimEnd());

/** Formats a line for a terminal: `12:34:56  warn   message  name=value ...`, local time. */
export const formatForTerminal: FormatLine = (line) => {
  const { time, level, text } = parseLine(line);
  return toPrintable(`${time.toTimeString().slice(0, 8)}  ${level.padEnd(5)}  ${text}`);
};

/** Formats a line for a log file: like a terminal's, but with date and time in UTC. */
export const formatForFile: FormatLine = (line) => {
  const { time, level, text } = parseLine(line);
  return toPrintable(`${time.toISOString()}  ${level.padEnd(5)}  ${text}`);
};

/** Formats a line for the journal, which adds the time itself and reads the priority from the prefix (sd-daemon(3)). */
export const formatForJournal: FormatLine = (line) => {
  const { priority, text } = parseLine(line);
  return `<${priority}>${toPrintable(text)}`;
};

/** True when the descriptor is the journal's; `stream` is the value of $JOURNAL_STREAM (systemd.exec(5)). */
export function isJournal(fd: number, stream: string | undefined): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(fd);
  return stream === `${dev}:${ino}`;
}

function parseLine(line: string): { time: Date; level: string; priority: number; text: string } {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const message = typeof entry["msg"] === "string" ? entry["msg"] : "";
  const facts = Object.entries(entry)
    .filter(([name]) => !PINO_FIELDS.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const { name: level, priority } = LEVELS[Number(entry["level"])] ?? { name: "info", priority: 6 };
  return { time: new Date(Number(entry["time"])), level, priority, text: [message, ...facts].join("  ") };
}

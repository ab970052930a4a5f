import { fstatSync } from "node:fs";
import { pino } from "pino";
import { toPrintable } from "../../core/text/printable.ts";

/** Turns one of pino's JSON lines, with its newline, into the line to write, without a newline. */
export type FormatLine = (line: string) => string;

/** Fields that pino adds by itself. Formats for people show them in fixed places or leave them out. */
const PINO_FIELDS = new Set(["level", "time", "pid", "hostname", "msg"]);

/** Syslog priorities by pino level, as sd-daemon(3) defines them for a line's prefix. */
const PRIORITIES: Record<string, number> = { debug: 7, info: 6, warn: 4, error: 3, fatal: 2 };

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
  const { level, text } = parseLine(line);
  return `<${PRIORITIES[level] ?? 6}>${toPrintable(text)}`;
};

/** True when the descriptor is the journal's; `stream` is the value of $JOURNAL_STREAM (systemd.exec(5)). */
export function isJournal(fd: number, stream: string | undefined): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(fd);
  return stream === `${dev}:${ino}`;
}

function parseLine(line: string): { time: Date; level: string; text: string } {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const message = typeof entry["msg"] === "string" ? entry["msg"] : "";
  const facts = Object.entries(entry)
    .filter(([name]) => !PINO_FIELDS.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const level = pino.levels.labels[Number(entry["level"])] ?? "info";
  return { time: new Date(Number(entry["time"])), level, text: [message, ...facts].join("  ") };
}

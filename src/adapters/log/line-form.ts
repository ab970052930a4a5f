import { fstatSync } from "node:fs";
import { pino } from "pino";
import { printable } from "../../core/text/printable.ts";

/** How one of pino's JSON lines, which ends in a newline, is written; without a newline. */
export type LineForm = (line: string) => string;

/** Fields that pino adds by itself; for people they are worked into the line or left out. */
const OWN_FIELDS = new Set(["level", "time", "pid", "hostname", "msg"]);

/** syslog's priorities by pino's levels, as sd-daemon(3) has them before a line. */
const PRIORITIES: Record<string, number> = { debug: 7, info: 6, warn: 4, error: 3, fatal: 2 };

/** For programs: as pino wrote it. */
export const jsonLine: LineForm = (line) => printable(line.trimEnd());

/** For a terminal: `12:34:56  warn   message  name=value ...`. */
export const terminalLine: LineForm = (line) => {
  const { time, level, text } = read(line);
  return printable(`${time.toTimeString().slice(0, 8)}  ${level.padEnd(5)}  ${text}`);
};

/** For a file that people read days later: the same, with the whole time, UTC. */
export const fileLine: LineForm = (line) => {
  const { time, level, text } = read(line);
  return printable(`${time.toISOString()}  ${level.padEnd(5)}  ${text}`);
};

/** For the journal, which adds the time itself and takes the priority from the line's beginning (sd-daemon(3)). */
export const journalLine: LineForm = (line) => {
  const { level, text } = read(line);
  return `<${PRIORITIES[level] ?? 6}>${printable(text)}`;
};

/** Is this file descriptor the journal's? It says which that is (systemd.exec(5), "$JOURNAL_STREAM"). */
export function isJournal(fd: number, stream: string | undefined): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(fd);
  return stream === `${dev}:${ino}`;
}

function read(line: string): { time: Date; level: string; text: string } {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const message = typeof entry["msg"] === "string" ? entry["msg"] : "";
  const facts = Object.entries(entry)
    .filter(([name]) => !OWN_FIELDS.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const level = pino.levels.labels[Number(entry["level"])] ?? "info";
  return { time: new Date(Number(entry["time"])), level, text: [message, ...facts].join("  ") };
}

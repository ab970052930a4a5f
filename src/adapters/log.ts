import { pino } from "pino";
import { printable } from "../core/printable.ts";
import type { Log } from "../ports.ts";

/** Fields that pino adds by itself; on a terminal they are worked into the line or left out. */
const OWN_FIELDS = new Set(["level", "time", "pid", "hostname", "msg"]);

/**
 * The daemon's log, on standard error: JSON lines for a service manager, short readable lines on a terminal. What
 * strangers say in it can neither forge a line nor act on a terminal (facts/threats.md E3).
 * Paths named in `redact` are a second net only; nothing that holds a credential is ever passed in.
 */
export function openLog(options: { debug: boolean; pretty: boolean }): Log {
  const settings = {
    level: options.debug ? "debug" : "info",
    redact: ["headers", "*.headers", "key_value", "secret"],
    base: { pid: process.pid },
  };
  return pino(settings, { write: options.pretty ? writePretty : jsonWriter() });
}

/** Synchronous: a line that is logged right before an exit must not be lost. */
function jsonWriter(): (line: string) => void {
  const destination = pino.destination({ fd: 2, sync: true });
  return (line) => void destination.write(`${printable(line.trimEnd())}\n`);
}

function writePretty(line: string): void {
  process.stderr.write(`${prettyLine(line)}\n`);
}

/** pino's JSON line as people read it: `12:34:56  warn   message  name=value ...`. */
export function prettyLine(line: string): string {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const time = new Date(Number(entry["time"])).toTimeString().slice(0, 8);
  const message = typeof entry["msg"] === "string" ? entry["msg"] : "";
  const level = (pino.levels.labels[Number(entry["level"])] ?? "info").padEnd(5);
  const facts = Object.entries(entry)
    .filter(([name]) => !OWN_FIELDS.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return printable([time, level, message, ...facts].join("  "));
}

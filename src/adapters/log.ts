import { pino } from "pino";
import type { Log } from "../ports.ts";

/** Fields that pino adds by itself; on a terminal they are worked into the line or left out. */
const OWN_FIELDS = new Set(["level", "time", "pid", "hostname", "msg"]);

/**
 * The daemon's log, on standard error: JSON lines for a service manager, short readable lines on a terminal.
 * Paths named in `redact` are a second net only; nothing that holds a credential is ever passed in.
 */
export function openLog(options: { debug: boolean; pretty: boolean }): Log {
  const settings = {
    level: options.debug ? "debug" : "info",
    redact: ["headers", "*.headers", "key_value", "secret"],
    base: { pid: process.pid },
  };
  // Synchronous: a line that is logged right before an exit must not be lost.
  const destination = options.pretty ? { write: writePretty } : pino.destination({ fd: 2, sync: true });
  return pino(settings, destination);
}

function writePretty(line: string): void {
  process.stderr.write(`${prettyLine(line)}\n`);
}

/** `12:34:56 warn  message  name=value ...`; a line that is not pino's is passed as it is. */
export function prettyLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line.trimEnd();
  }
  const time = new Date(Number(entry["time"])).toTimeString().slice(0, 8);
  const message = typeof entry["msg"] === "string" ? entry["msg"] : "";
  const level = (pino.levels.labels[Number(entry["level"])] ?? "info").padEnd(5);
  const facts = Object.entries(entry)
    .filter(([name]) => !OWN_FIELDS.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [time, level, message, ...facts].join("  ").replaceAll(/[\p{Cc}\p{Cf}]/gu, " ");
}

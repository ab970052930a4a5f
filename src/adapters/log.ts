import { pino } from "pino";
import { printable } from "../core/printable.ts";
import type { Log } from "../ports.ts";
import { LineOutput } from "./log/line-output.ts";

const STANDARD_ERROR = 2;

/** Fields that pino adds by itself; on a terminal they are worked into the line or left out. */
const OWN_FIELDS = new Set(["level", "time", "pid", "hostname", "msg"]);

/**
 * The daemon's log, on standard error: JSON lines for a service manager, short readable lines on a terminal. What
 * strangers say in it can neither forge a line nor act on a terminal (facts/threats.md E3), and what cannot be written
 * ends nothing; how much that was is said once it can be.
 * Paths named in `redact` are a second net only; nothing that holds a credential is ever passed in.
 */
export function openLog(options: { debug: boolean; pretty: boolean }): Log {
  const settings = {
    level: options.debug ? "debug" : "info",
    redact: ["headers", "*.headers", "key_value", "secret"],
    base: { pid: process.pid },
  };
  const output = new LineOutput(STANDARD_ERROR, (dropped) =>
    log.warn({ dropped }, "the log is written again; lines of it are lost"),
  );
  const form = options.pretty ? prettyLine : (line: string) => printable(line.trimEnd());
  const log = pino(settings, { write: (line) => output.write(form(line)) });
  return log;
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

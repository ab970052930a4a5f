import { pino, type LoggerOptions } from "pino";
import { boundRecord } from "../core/bounded-record.ts";
import { dayOf } from "../core/ledger-day.ts";
import { printable } from "../core/printable.ts";
import { RECORD_VERSION } from "../core/record.ts";
import type { MovableLedger } from "../ports.ts";
import { LineWriter, type LedgerOptions } from "./ledger-file/line-writer.ts";

export type { LedgerOptions };

const NEWLINE = "\n";

/**
 * Opens the ledger: one NDJSON file per UTC day in `directory`, one line per record, and nothing in a line but the
 * record. Sets torn last lines aside and deletes days past their time. Throws a Failure with a hint when the directory
 * cannot be made or is unsafe; a disk that is full or read-only is no reason not to start.
 */
export function openLedger(options: LedgerOptions): MovableLedger {
  const writer = new LineWriter(options);
  // pino hands each line to its destination before `info` returns; the line's day travels beside it.
  let day = "";
  const lines = pino(PLAIN, {
    write(line: string) {
      writer.write({ day, line: Buffer.from(printable(line.slice(0, -NEWLINE.length)) + NEWLINE) });
    },
  });
  return {
    append(record) {
      const { v: _version, ...fields } = boundRecord(record);
      day = dayOf(record.ts);
      lines.info(fields);
    },
    health: () => writer.health(),
    moveTo: (place) => writer.moveTo(place),
    close: () => writer.close(),
  };
}

/**
 * No time, process or host. pino opens each line with what `level` returns and cannot do without it: that is where `v`
 * goes in.
 */
const PLAIN: LoggerOptions = {
  base: null,
  timestamp: false,
  formatters: { level: () => ({ v: RECORD_VERSION }) },
};

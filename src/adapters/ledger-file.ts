import { boundRecord } from "../core/ledger/bound-record.ts";
import { dayOf } from "../core/ledger/day.ts";
import { printable } from "../core/text/printable.ts";
import type { MovableLedger } from "../ports.ts";
import { LineWriter, type LedgerOptions } from "./ledger-file/line-writer.ts";

export type { LedgerOptions };

/**
 * Opens the ledger: one NDJSON file per UTC day in `directory`, one line per record, and nothing in a line but the
 * record. Sets torn last lines aside and deletes days past their time. Throws a Failure with a hint when the directory
 * cannot be made or is unsafe; a disk that is full or read-only is no reason not to start.
 */
export function openLedger(options: LedgerOptions): MovableLedger {
  const writer = new LineWriter(options);
  return {
    // 8.7 µs in a loop, of which 1.9 are the write (`npm run bench`); pino would take 2.2 more for the same line.
    append(record) {
      const line = printable(JSON.stringify(boundRecord(record)));
      writer.write({ day: dayOf(record.ts), line: `${line}\n` });
    },
    health: () => writer.health(),
    moveTo: (place) => writer.moveTo(place),
    close: () => writer.close(),
  };
}

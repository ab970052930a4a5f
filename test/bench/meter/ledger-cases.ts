import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { Ledger } from "../../../src/ports.ts";
import type { MeterCase } from "./cases.ts";

/** Appending a record to a real ledger, and for comparison the single write in it. The difference is formatting the line. */
export function listLedgerCases(ledger: Ledger, directory: string, record: UsageRecord): MeterCase[] {
  const line = `${JSON.stringify(record)}\n`;
  const fd = openSync(join(directory, "lines"), "a", 0o600);
  const of = (name: string, run: () => void): MeterCase => ({
    name,
    unit: "record",
    units: 1,
    bytes: line.length,
    run,
  });
  return [
    of("ledger: one record", () => ledger.append([record])),
    of("ledger: its write alone", () => writeSync(fd, line)),
  ];
}

import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { Ledger } from "../../../src/ports.ts";
import type { MeterCase } from "./cases.ts";

/** As many as end together under load. */
const RECORDS_OF_A_TURN = 16;

/** Appending a record to a real ledger, and for comparison the single write in it. The difference is formatting the line. */
export function listLedgerCases(ledger: Ledger, directory: string, record: UsageRecord): MeterCase[] {
  const line = `${JSON.stringify(record)}\n`;
  const fd = openSync(join(directory, "lines"), "a", 0o600);
  const of = (name: string, units: number, run: () => void): MeterCase => ({
    name,
    unit: "record",
    units,
    bytes: units * line.length,
    run,
  });
  const turn = Array.from({ length: RECORDS_OF_A_TURN }, () => record);
  return [
    of("ledger: one record", 1, () => ledger.append([record])),
    of("ledger: its write alone", 1, () => writeSync(fd, line)),
    of(`ledger: ${RECORDS_OF_A_TURN} records of one turn`, RECORDS_OF_A_TURN, () => ledger.append(turn)),
  ];
}

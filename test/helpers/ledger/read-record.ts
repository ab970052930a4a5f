import assert from "node:assert/strict";
import { parseRecord } from "../../../src/core/ledger/parse-record.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";

/** Returns the record of a line of the ledger, with what the line leaves out. */
export function readRecord(line: string): UsageRecord {
  const record = parseRecord(line);
  if (typeof record !== "object") assert.fail(`${record}: ${line}`);
  return record;
}

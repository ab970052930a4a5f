// Measures the meter and the ledger in a process with nothing else in it. Receives the number of rounds and replies with the costs.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerOptions } from "../../../src/adapters/ledger-file.ts";
import type { MovableLedger } from "../../../src/ports.ts";
import { MemoryLog, realClock } from "../../helpers/gate/memory.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { listCases, type CompiledModules } from "./cases.ts";
import { listLedgerCases } from "./ledger-cases.ts";
import { measureCases } from "./measure.ts";
import type { MeterCosts } from "./meter.ts";

const DIST = new URL("../../../dist/", import.meta.url);

process.on("disconnect", () => process.exit());
const [rounds] = (await once(process, "message")) as [number];
const { createResponseMeter } = (await import(
  `${DIST.href}proxy/exchange/response-meter.js`
)) as CompiledModules;
const { createRequestScanner } = (await import(
  `${DIST.href}core/usage/request-scanner.js`
)) as CompiledModules;
const { openLedger } = (await import(`${DIST.href}adapters/ledger-file.js`)) as {
  openLedger(options: LedgerOptions): MovableLedger;
};
const directory = mkdtempSync(join(tmpdir(), "tollkeeper-bench-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
const ledger = openLedger({ directory, retainDays: 400, clock: realClock, log: new MemoryLog() });
const usage = { input_tokens: 10, cache_read_input_tokens: 2, output_tokens: 5, service_tier: "standard" };
const cases = [
  ...listCases({ createResponseMeter, createRequestScanner }),
  ...listLedgerCases(ledger, directory, usageRecord({ raw_usage: usage })),
];
const costs = measureCases(cases, rounds);
const message: MeterCosts = cases.map(({ name, unit, units, bytes }, i) => ({
  name,
  unit,
  bytesPerUnit: bytes / units,
  ns: costs[i]?.ns ?? [],
  allocated: costs[i]?.allocated ?? Number.NaN,
}));
process.send?.(message);

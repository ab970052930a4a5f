// Measures the meter and the ledger in a process with nothing else in it. Receives the number of rounds and replies with the costs.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import type { LedgerOptions } from "../../../src/adapters/ledger-file.ts";
import type { MovableLedger } from "../../../src/ports.ts";
import { MemoryLog, realClock } from "../../helpers/gate/memory.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { listCases, type CompiledModules } from "./cases.ts";
import { listLedgerCases } from "./ledger-cases.ts";
import { measureCases } from "./measure.ts";
import type { MeterCosts } from "./meter.ts";

/** The modules that are measured, without what else the program loads. */
const MODULES = ["proxy/exchange/response-meter", "core/usage/request-scanner", "adapters/ledger-file"];

/** Compiles the modules into `outdir`, as the build does with the program. */
async function compileModules(outdir: string): Promise<void> {
  const source = fileURLToPath(new URL("../../../src", import.meta.url));
  const entryPoints = MODULES.map((name) => join(source, `${name}.ts`));
  const format = { bundle: true, platform: "node", format: "esm", outExtension: { ".js": ".mjs" } } as const;
  await build({ entryPoints, outdir, outbase: source, ...format });
}

process.on("disconnect", () => process.exit());
const [rounds] = (await once(process, "message")) as [number];
const directory = mkdtempSync(join(tmpdir(), "tollkeeper-bench-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
await compileModules(directory);
const load = (name: string) => import(pathToFileURL(join(directory, `${name}.mjs`)).href);
const [{ createResponseMeter }, { createRequestScanner }, { openLedger }] = (await Promise.all(
  MODULES.map(load),
)) as [CompiledModules, CompiledModules, { openLedger(options: LedgerOptions): MovableLedger }];
const ledger = openLedger({
  onNewDay() {},
  directory: join(directory, "ledger"),
  retainDays: 400,
  clock: realClock,
  log: new MemoryLog(),
});
const usage = { input_tokens: 10, cache_read_input_tokens: 2, output_tokens: 5, service_tier: "standard" };
const cases = [
  ...listCases({ createResponseMeter, createRequestScanner }),
  ...listLedgerCases(ledger, join(directory, "ledger"), usageRecord({ raw_usage: usage })),
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

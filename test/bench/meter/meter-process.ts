// The meter, measured in a process of its own with nothing else in it. Told how many rounds, it says what they cost.
import { once } from "node:events";
import { listCases, type Measured } from "./cases.ts";
import { measureCases } from "./measure.ts";
import type { MeterCosts } from "./meter.ts";

const DIST = new URL("../../../dist/", import.meta.url);

process.on("disconnect", () => process.exit());
const [rounds] = (await once(process, "message")) as [number];
const { createAnswerMeter } = (await import(`${DIST.href}proxy/meter.js`)) as Measured;
const { createRequestScan } = (await import(`${DIST.href}core/usage/request-scan.js`)) as Measured;
const cases = listCases({ createAnswerMeter, createRequestScan });
const costs = measureCases(cases, rounds);
const said: MeterCosts = cases.map(({ name, unit, units, bytes }, i) => ({
  name,
  unit,
  bytesPerUnit: bytes / units,
  ns: costs[i]?.ns ?? [],
  allocated: costs[i]?.allocated ?? Number.NaN,
}));
process.send?.(said);

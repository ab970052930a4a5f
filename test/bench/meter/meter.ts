import { summarise, type Summary } from "../statistics.ts";
import { Worker } from "../worker.ts";
import type { MeterCase } from "./cases.ts";
import type { Cost } from "./measure.ts";

/** Each takes some hundredths of a second per case. */
const ROUNDS = 3;

/** The message of the meter's process. */
export type MeterCosts = readonly (Pick<MeterCase, "name" | "unit"> & Cost & { bytesPerUnit: number })[];

/** The cost of one task of the meter. */
export interface MeterResult {
  name: string;
  unit: MeterCase["unit"];
  /** CPU time per unit in nanoseconds. */
  ns: Summary & { rounds: number[] };
  /** CPU time per megabyte (10^6 bytes) in microseconds. NaN where nothing is fed. */
  usPerMegabyte: number;
  /** Bytes allocated per unit. */
  allocatedBytes: number;
}

/** Measures the meter on its own, without sockets and other code in the process. */
export async function measureMeter(
  rounds: number,
  onProgress: (what: string) => void,
): Promise<MeterResult[]> {
  onProgress("the meter on its own");
  const worker = new Worker("meter/meter-process.ts");
  try {
    worker.send(ROUNDS * rounds);
    const costs = (await worker.next()) as MeterCosts;
    return costs.map(({ name, unit, bytesPerUnit, ns, allocated }) => {
      const summary = summarise(ns);
      return {
        name,
        unit,
        ns: { ...summary, rounds: ns },
        usPerMegabyte: bytesPerUnit === 0 ? Number.NaN : (summary.median / bytesPerUnit) * 1_000,
        allocatedBytes: allocated,
      };
    });
  } finally {
    await worker.stop();
  }
}

import { measureUsedMemory } from "../../helpers/process/used-memory.ts";
import { median } from "../../helpers/process/process-metrics.ts";
import type { MeterCase } from "./cases.ts";

/** CPU time of one measurement: long compared with the clock's microsecond and the calls around it. */
const MEASURED_US = 10_000;
/** V8 optimises in steps, and again after a case has run code that others did not. */
const WARM_UPS = 4;
const WARM_UP_US = 40_000;
/** Allocations in one measurement: so few that no garbage is collected meanwhile. */
const ALLOCATED_BYTES = 400_000;
const MOST_RUNS = 500;
const ALLOCATIONS = 5;

/** The cost of one case in each round. */
export interface Cost {
  /** CPU time of one unit in nanoseconds. */
  ns: number[];
  /** Bytes allocated per unit, on the heap and in buffers. */
  allocated: number;
}

/** Measures every case in each round, so that a busy moment affects all of them alike. */
export function measureCases(cases: readonly MeterCase[], rounds: number): Cost[] {
  for (let i = 0; i < WARM_UPS; i += 1) for (const one of cases) countRuns(one, WARM_UP_US);
  const runs = cases.map((one) => countRuns(one, MEASURED_US));
  const times = cases.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, one] of cases.entries()) times[i]?.push(timeOf(one, runs[i] ?? 1));
  }
  return cases.map((one, i) => ({ ns: times[i] ?? [], allocated: allocatedBy(one) }));
}

/** Returns how many runs take so much CPU time. */
function countRuns({ run }: MeterCase, us: number): number {
  const end = readCpuUs() + us;
  let runs = 0;
  do {
    run();
    runs += 1;
  } while (readCpuUs() < end);
  return runs;
}

function timeOf({ run, units }: MeterCase, runs: number): number {
  const before = readCpuUs();
  for (let i = 0; i < runs; i += 1) run();
  return ((readCpuUs() - before) * 1_000) / (runs * units);
}

/** CPU time of the whole process, including V8's helper threads. */
function readCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The median of several measurements, because the compiler allocates as well. */
function allocatedBy({ run, units }: MeterCase): number {
  const runs = Math.ceil(ALLOCATED_BYTES / Math.max(allocatedIn(run, 1), ALLOCATED_BYTES / MOST_RUNS));
  const found = Array.from({ length: ALLOCATIONS }, () => allocatedIn(run, runs) - allocatedIn(run, 0));
  return Math.max(0, median(found)) / (runs * units);
}

/** Includes what the measurement itself allocates. */
function allocatedIn(run: () => void, runs: number): number {
  const before = measureUsedMemory();
  for (let i = 0; i < runs; i += 1) run();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers - before;
}

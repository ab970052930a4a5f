import { measureUsedMemory } from "../../helpers/process/used-memory.ts";
import { median } from "../../chaos/process-figures.ts";
import type { MeterCase } from "./cases.ts";

/** One measurement's processor time: long beside the clock's microsecond and the calls around it. */
const MEASURED_US = 10_000;
/** V8 optimises in steps, and again when one case has shown it what the others did not. */
const WARM_UPS = 4;
const WARM_UP_US = 40_000;
/** So little is allocated in one measurement that nothing is collected meanwhile. */
const ALLOCATED_BYTES = 400_000;
const MOST_RUNS = 500;
const ALLOCATIONS = 5;

/** What one case has cost, each time. */
export interface Cost {
  /** Processor time of one unit, nanoseconds. */
  ns: number[];
  /** Bytes allocated per unit, on the heap and in buffers. */
  allocated: number;
}

/** Measures every case in each round, so that a busy moment hits all alike. */
export function measureCases(cases: readonly MeterCase[], rounds: number): Cost[] {
  for (let i = 0; i < WARM_UPS; i += 1) for (const one of cases) runFor(one, WARM_UP_US);
  const runs = cases.map((one) => runFor(one, MEASURED_US));
  const times = cases.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, one] of cases.entries()) times[i]?.push(timeOf(one, runs[i] ?? 1));
  }
  return cases.map((one, i) => ({ ns: times[i] ?? [], allocated: allocatedBy(one) }));
}

/** How many runs take so much processor time. */
function runFor({ run }: MeterCase, us: number): number {
  const end = usedUs() + us;
  let runs = 0;
  do {
    run();
    runs += 1;
  } while (usedUs() < end);
  return runs;
}

function timeOf({ run, units }: MeterCase, runs: number): number {
  const before = usedUs();
  for (let i = 0; i < runs; i += 1) run();
  return ((usedUs() - before) * 1_000) / (runs * units);
}

/** Of the whole process, V8's helper threads included. */
function usedUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The usual of several measurements: a compiler at work allocates as well. */
function allocatedBy({ run, units }: MeterCase): number {
  const runs = Math.ceil(ALLOCATED_BYTES / Math.max(allocatedIn(run, 1), ALLOCATED_BYTES / MOST_RUNS));
  const found = Array.from({ length: ALLOCATIONS }, () => allocatedIn(run, runs) - allocatedIn(run, 0));
  return Math.max(0, median(found)) / (runs * units);
}

/** With what the look at it allocates itself. */
function allocatedIn(run: () => void, runs: number): number {
  const before = measureUsedMemory();
  for (let i = 0; i < runs; i += 1) run();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers - before;
}

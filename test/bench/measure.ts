import { readCpu, type CpuTime } from "./cpu.ts";
import type { Load, Outcome } from "./load.ts";
import type { Site } from "./site.ts";
import type { Subject } from "./subject.ts";

/** The outcome of a load and its cost. */
export interface Measured extends Outcome {
  /** CPU time of the target in microseconds. NaN for the upstream itself. */
  cpuUs: number;
  trust: Trust;
}

/** How reliable a figure is. Shares from 0 to 1. */
export interface Trust {
  /** How much of its time ready to run the target waited for a CPU. NaN where that is unknown. */
  waited: number;
  /** How much of the elapsed time client and upstream computed. Near 1 they are the bottleneck. */
  load: number;
}

/** Runs a load against a subject and reads the operating system's CPU times before and after. */
export async function measureLoad(
  site: Site,
  subject: Subject,
  load: Omit<Load, keyof Subject["reach"]>,
): Promise<Measured> {
  const loadPids = [site.client.pid, site.upstream.pid];
  await site.client.prepare({ ...load, ...subject.reach });
  const before = [readCpu(subject.pids), readCpu(loadPids)] as const;
  const outcome = await site.client.run();
  const after = [readCpu(subject.pids), readCpu(loadPids)] as const;
  // Each persistent connection has carried one more request.
  subject.count(outcome.requests + (load.isFresh ? 0 : load.connections));
  const ranNs = after[0].ranNs - before[0].ranNs;
  return {
    ...outcome,
    cpuUs: subject.pids.length === 0 ? Number.NaN : ranNs / 1_000,
    trust: {
      waited: waitedShare(before[0], after[0]),
      load: (after[1].ranNs - before[1].ranNs) / 1e9 / outcome.seconds,
    },
  };
}

function waitedShare(before: CpuTime, after: CpuTime): number {
  if (before.waitedNs === null || after.waitedNs === null) return Number.NaN;
  const waited = after.waitedNs - before.waitedNs;
  return waited / (waited + after.ranNs - before.ranNs);
}

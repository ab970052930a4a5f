import { readCpu, type CpuTime } from "./cpu.ts";
import type { Load, Outcome } from "./load.ts";
import type { Site } from "./site.ts";
import type { Subject } from "./subject.ts";

/** What a load has cost, besides what came of it. */
export interface Measured extends Outcome {
  /** Processor time of the target, microseconds. NaN for the upstream itself. */
  cpuUs: number;
  trust: Trust;
}

/** What tells whether a figure is to be believed. Shares, from 0 to 1. */
export interface Trust {
  /** Of the time that the target wanted a processor: how much it waited for one. NaN where that is not known. */
  waited: number;
  /** Of the time that it took: how much client and upstream computed. Near 1 they are what is measured. */
  load: number;
}

/** Runs a load against a subject and reads the operating system's accounts before and after. */
export async function measureLoad(
  site: Site,
  subject: Subject,
  load: Omit<Load, keyof Subject["way"]>,
): Promise<Measured> {
  const loadPids = [site.client.pid, site.upstream.pid];
  await site.client.prepare({ ...load, ...subject.way });
  const before = [readCpu(subject.pids), readCpu(loadPids)] as const;
  const outcome = await site.client.run();
  const after = [readCpu(subject.pids), readCpu(loadPids)] as const;
  // Each kept connection has carried one more.
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

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const SAMPLES = 10;
const INTERVAL_MS = 20;

/** Returns how many file descriptors a process has open (Linux). */
export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Returns the minimum of several samples, which omits short-lived descriptors such as those of a control connection. */
export async function fewestDescriptors(pid: number): Promise<number> {
  let fewest = Infinity;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    fewest = Math.min(fewest, countDescriptors(pid));
    await delay(INTERVAL_MS);
  }
  return fewest;
}

/** Returns the resident memory of a process in bytes (Linux). */
export function residentBytes(pid: number): number {
  return statusBytes(pid, "VmRSS");
}

/** Returns the peak resident memory of a process in bytes (Linux). */
export function peakBytes(pid: number): number {
  return statusBytes(pid, "VmHWM");
}

function statusBytes(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
}

/** Polls a condition that emits no event. Resolves to false when it is not true within `limitMs`. */
export async function becomesTrue(
  condition: () => boolean | Promise<boolean>,
  limitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await delay(INTERVAL_MS);
  }
  return true;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

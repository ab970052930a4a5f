import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const LOOKS = 10;
const LOOK_AGAIN_MS = 20;

/** Open file descriptors of a process (Linux). */
export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The fewest descriptors of several looks: without those that come and go, as for a command on the control socket. */
export async function fewestDescriptors(pid: number): Promise<number> {
  let fewest = Infinity;
  for (let look = 0; look < LOOKS; look += 1) {
    fewest = Math.min(fewest, countDescriptors(pid));
    await delay(LOOK_AGAIN_MS);
  }
  return fewest;
}

/** Resident memory of a process, bytes (Linux). */
export function residentBytes(pid: number): number {
  return statusBytes(pid, "VmRSS");
}

/** The most that a process had of it at once, since its start. */
export function peakBytes(pid: number): number {
  return statusBytes(pid, "VmHWM");
}

function statusBytes(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
}

/** Waits for what no event tells, in another process; false when it has not come about in `limitMs`. */
export async function comesTrue(
  condition: () => boolean | Promise<boolean>,
  limitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await delay(LOOK_AGAIN_MS);
  }
  return true;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

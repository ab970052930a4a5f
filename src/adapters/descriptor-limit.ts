import { readFileSync } from "node:fs";

/**
 * Returns how many files and sockets this process may have open; Infinity where the system does not say. Node raises its
 * soft limit to the hard limit at start, so on most systems this is the hard limit.
 */
export function descriptorLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return Number(soft ?? Infinity);
  } catch {
    return Infinity;
  }
}

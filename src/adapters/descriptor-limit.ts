import { readFileSync } from "node:fs";

/**
 * How many files and sockets this process may have open; Infinity where the system does not say. Node raises its own
 * limit to the highest that it is allowed when it starts, which is plenty on most systems.
 */
export function descriptorLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return Number(soft ?? Infinity);
  } catch {
    return Infinity;
  }
}

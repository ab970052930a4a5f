import { readFileSync } from "node:fs";

/**
 * True in a user namespace that does not map root, such as the sandbox of the service, where it writes to the directories of
 * its installation only. Each line of the map is a range: the first uid inside, the first outside, and the length
 * (user_namespaces(7)).
 */
export function isInSandbox(): boolean {
  try {
    return !/^\s*0\s/m.test(readFileSync("/proc/self/uid_map", "utf8"));
  } catch {
    // There is no such file outside Linux.
    return false;
  }
}

import { readFileSync } from "node:fs";

/** The kernel's default (proc_sys_kernel(5)). */
const DEFAULT_OVERFLOW_UID = 65_534;

/** `         0          0 4294967295`: every uid is mapped to itself. */
const IDENTITY_MAP = /^\s*0\s+0\s+4294967295\s*$/;

/**
 * True in a user namespace that does not map root, such as the sandbox of the service, where it writes to the directories of
 * its installation only. Each line of the map is a range: the first uid inside, the first outside, and the length
 * (user_namespaces(7)).
 */
export function isInSandbox(): boolean {
  const map = read("/proc/self/uid_map");
  // There is no such file outside Linux.
  return map !== null && !/^\s*0\s/m.test(map);
}

/**
 * Returns the uid that stands for every user without a mapping in this user namespace (user_namespaces(7)); null where all
 * users are mapped. A mapped user with the same uid cannot be distinguished from them.
 */
export function overflowUid(): number | null {
  const map = read("/proc/self/uid_map");
  if (map === null || IDENTITY_MAP.test(map)) return null;
  return Number(read("/proc/sys/kernel/overflowuid") ?? DEFAULT_OVERFLOW_UID);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

import { readFileSync } from "node:fs";

/** What the kernel says unless it was told otherwise (proc_sys_kernel(5)). */
const OVERFLOW_UID = 65_534;

/** `         0          0 4294967295`: every uid there is, and each is itself. */
const EVERY_UID = /^\s*0\s+0\s+4294967295\s*$/;

/**
 * The uid that stands for every user whom our user namespace does not know (user_namespaces(7)); null where it knows them
 * all. Whoever of those it does know may have that number as well is not told from them.
 */
export function overflowUid(): number | null {
  const map = read("/proc/self/uid_map");
  if (map === null || EVERY_UID.test(map)) return null;
  return Number(read("/proc/sys/kernel/overflowuid") ?? OVERFLOW_UID);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

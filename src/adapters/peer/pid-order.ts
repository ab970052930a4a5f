/** Every pid is lower (proc_sys_kernel(5), pid_max). */
const PID_LIMIT = 2 ** 22;

/**
 * Returns the pids in the order in which their processes were started, newest first. The kernel gives pids out in ascending
 * order and then from the bottom again, so those above the latest one are the oldest. Without it, no pid counts as older.
 */
export function sortNewestFirst(pids: readonly number[], latest: number | null): number[] {
  const last = latest ?? PID_LIMIT;
  const age = (pid: number) => (pid <= last ? last - pid : last - pid + PID_LIMIT);
  return pids.toSorted((a, b) => age(a) - age(b));
}

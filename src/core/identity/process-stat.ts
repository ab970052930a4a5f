/** Fields of `/proc/PID/stat`. */
export interface ProcessStat {
  /** The executable's name, truncated to 15 characters, or the title that the process gave itself. */
  name: string;
  /** `Z` for a process that has ended and that its parent has not waited for yet. */
  state: string;
  parent: number;
  /** In clock ticks since boot. Identifies the process together with the pid. */
  startedAt: string;
}

/**
 * Parses `4711 (node) S 4242 ...` (proc_pid_stat(5): fields 2, 3, 4 and 22). The name can contain anything, even `) (`, so it
 * ends at the last bracket. Returns null for a truncated line.
 */
export function parseStat(line: string): ProcessStat | null {
  const end = line.lastIndexOf(")");
  const name = line.slice(line.indexOf("(") + 1, end);
  const fields = line.slice(end + 2).split(" ");
  const [state = "", parent] = fields;
  const startedAt = fields[19];
  if (end === -1 || parent === undefined || startedAt === undefined) return null;
  return { name, state, parent: Number(parent), startedAt };
}

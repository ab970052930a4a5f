/** What a line of `/proc/PID/stat` says. */
export interface ProcessStat {
  /** Name of its executable, cut after 15 characters, or what it calls itself. */
  name: string;
  parent: number;
  /** In ticks since the machine's start: together with the pid it is one process's alone. */
  startedAt: string;
}

/**
 * Reads `4711 (node) S 4242 ...` (proc_pid_stat(5): fields 2, 4 and 22). The name may hold anything, `) (` too, so what
 * counts is the last bracket. null for a line that is cut off.
 */
export function parseStat(line: string): ProcessStat | null {
  const end = line.lastIndexOf(")");
  const name = line.slice(line.indexOf("(") + 1, end);
  const fields = line.slice(end + 2).split(" ");
  const [parent, startedAt] = [fields[1], fields[19]];
  if (end === -1 || parent === undefined || startedAt === undefined) return null;
  return { name, parent: Number(parent), startedAt };
}

/** Arguments that make ps list every process: number, its parent's, and the executable's path, which is whole on macOS. */
export const PROCESS_TABLE_ARGUMENTS = ["-axww", "-o", "pid=,ppid=,comm="];

/** A row of that table. */
export interface ListedProcess {
  parent: number;
  executable: string;
}

/** Reads the table: ` 4711  4242 /usr/local/bin/node` (ps(1)). A path may hold spaces. */
export function parseProcessTable(output: string): Map<number, ListedProcess> {
  const processes = new Map<number, ListedProcess>();
  for (const line of output.split("\n")) {
    const [, pid, parent, executable] = /^\s*(\d+)\s+(\d+)\s+(.*\S)/.exec(line) ?? [];
    if (executable !== undefined) processes.set(Number(pid), { parent: Number(parent), executable });
  }
  return processes;
}

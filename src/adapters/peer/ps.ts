/** Makes ps list the pid, the parent's pid and the executable of every process. macOS prints the executable's full path. */
export const PS_ARGUMENTS = ["-axww", "-o", "pid=,ppid=,comm="];

/** One row of ps's output. */
export interface ListedProcess {
  parent: number;
  executable: string;
}

/** Parses rows such as ` 4711  4242 /usr/local/bin/node` (ps(1)) into a map by pid. A path can contain spaces. */
export function parsePsOutput(output: string): Map<number, ListedProcess> {
  const processes = new Map<number, ListedProcess>();
  for (const line of output.split("\n")) {
    const [, pid, parent, executable] = /^\s*(\d+)\s+(\d+)\s+(.*\S)/.exec(line) ?? [];
    if (executable !== undefined) processes.set(Number(pid), { parent: Number(parent), executable });
  }
  return processes;
}

import { spawnSync } from "node:child_process";
import { cpus } from "node:os";

/** Where processes run. */
export interface Placement {
  /** A command prefix that runs proxies on their CPU. */
  launcher: string[];
  /** A command prefix that runs a short command on all CPUs, as in a shell. It would inherit the load client's CPU. */
  commandLauncher: string[];
  /** Starts something whose processes have all CPUs from then on, such as a browser. */
  startOnAllCores<Started>(start: () => Promise<Started>): Promise<Started>;
  /** A note for the report. */
  note: string;
}

const LOAD_CORE = "0";
const PROXY_CORE = "1";

/** Pins the benchmark and its children to one core and proxies to another, so that neither takes time from the other. */
export function placeProcesses(): Placement {
  const allCores = `0-${cpus().length - 1}`;
  const pinTo = (cores: string) => run("-acp", cores, String(process.pid));
  const isPossible = run("-c", PROXY_CORE, "true") && pinTo(LOAD_CORE);
  if (!isPossible) {
    return {
      launcher: [],
      commandLauncher: [],
      startOnAllCores: (start) => start(),
      note: "NOT PINNED (needs taskset and two cores): absolute figures mean little",
    };
  }
  return {
    launcher: ["taskset", "-c", PROXY_CORE],
    commandLauncher: ["taskset", "-c", allCores],
    async startOnAllCores(start) {
      pinTo(allCores);
      try {
        return await start();
      } finally {
        pinTo(LOAD_CORE);
      }
    },
    note: `proxies pinned to core ${PROXY_CORE}, load client and upstream together to core ${LOAD_CORE}`,
  };
}

function run(...args: string[]): boolean {
  return spawnSync("taskset", args, { stdio: "ignore" }).status === 0;
}

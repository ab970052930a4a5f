import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { residentBytes } from "../helpers/process/process-metrics.ts";
import { listProcesses } from "../helpers/process/processes.ts";

/** CPU time that processes have used and waited for since their start, in nanoseconds. */
export interface CpuTime {
  ranNs: number;
  /** Time ready to run but waiting for a CPU. null where the system does not tell. */
  waitedNs: number | null;
}

/** Linux shows ticks to programs in hundredths of a second (proc(5), `_SC_CLK_TCK`). */
const TICK_NS = 10_000_000;
const NS = 1_000_000_000;

/** Lists a process and its current children. */
export function listProcessTree(pid: number): number[] {
  if (process.platform !== "linux") return [pid];
  return [
    pid,
    ...listProcesses()
      .filter(({ parent }) => parent === pid)
      .map((child) => child.pid),
  ];
}

/** Reads the CPU time of all threads of these processes. */
export function readCpu(pids: readonly number[]): CpuTime {
  const times = pids.map(readProcess);
  return {
    ranNs: sum(times.map(({ ranNs }) => ranNs)),
    waitedNs: times.every(({ waitedNs }) => waitedNs !== null)
      ? sum(times.map(({ waitedNs }) => waitedNs ?? 0))
      : null,
  };
}

/** Reads the total resident memory of these processes in MiB. NaN for none, and on systems other than Linux. */
export function readMemory(pids: readonly number[]): number {
  if (process.platform !== "linux" || pids.length === 0) return Number.NaN;
  return sum(pids.map(residentBytes)) / 1024 / 1024;
}

function readProcess(pid: number): CpuTime {
  if (process.platform !== "linux") {
    return {
      ranNs: parsePsTime(execFileSync("ps", ["-o", "cputime=", "-p", String(pid)], { encoding: "utf8" })),
      waitedNs: null,
    };
  }
  if (!existsSync(`/proc/${pid}/schedstat`)) {
    return { ranNs: parseStat(readFileSync(`/proc/${pid}/stat`, "latin1")), waitedNs: null };
  }
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
    readThread(`/proc/${pid}/task/${thread}/schedstat`),
  );
  return {
    ranNs: sum(threads.map(({ ranNs }) => ranNs)),
    waitedNs: sum(threads.map(({ waitedNs }) => waitedNs)),
  };
}

function readThread(file: string): { ranNs: number; waitedNs: number } {
  try {
    return parseSchedstat(readFileSync(file, "latin1"));
  } catch {
    // The thread has ended since the directory was read.
    return { ranNs: 0, waitedNs: 0 };
  }
}

/** Parses `/proc/PID/task/TID/schedstat`: time on a CPU and time waiting for one, in nanoseconds, and slices (sched-stats.rst). */
export function parseSchedstat(text: string): { ranNs: number; waitedNs: number } {
  const [ranNs = 0, waitedNs = 0] = text.trim().split(" ").map(Number);
  return { ranNs, waitedNs };
}

/** Parses user and system time from `/proc/PID/stat`, in nanoseconds. The name before them ends with the last `)`. */
export function parseStat(text: string): number {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // Fields 14 and 15 of proc(5), counted from 1; the third is the first here.
  return (Number(fields[11]) + Number(fields[12])) * TICK_NS;
}

/** Parses a time of ps, `[[DD-]HH:]MM:SS[.CC]`, into nanoseconds. */
export function parsePsTime(text: string): number {
  const [clock = "", days = "0"] = text.trim().split("-").toReversed();
  const seconds = clock.split(":").reduce((total, part) => total * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * NS;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

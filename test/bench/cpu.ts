import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { residentBytes } from "../chaos/process-figures.ts";
import { listProcesses } from "../helpers/process/processes.ts";

/** Time that processes have had and wanted, since they were started. Nanoseconds. */
export interface CpuTime {
  ranNs: number;
  /** Ready to run, and not let. null where the system does not say. */
  waitedNs: number | null;
}

/** Linux counts in hundredths of a second wherever it shows ticks to programs (proc(5), `_SC_CLK_TCK`). */
const TICK_NS = 10_000_000;
const NS = 1_000_000_000;

/** A process and its children, as they are now. */
export function familyOf(pid: number): number[] {
  if (process.platform !== "linux") return [pid];
  return [
    pid,
    ...listProcesses()
      .filter(({ parent }) => parent === pid)
      .map((child) => child.pid),
  ];
}

/** What the operating system has counted for all threads of these processes. */
export function readCpu(pids: readonly number[]): CpuTime {
  const times = pids.map(readProcess);
  return {
    ranNs: sum(times.map(({ ranNs }) => ranNs)),
    waitedNs: times.every(({ waitedNs }) => waitedNs !== null)
      ? sum(times.map(({ waitedNs }) => waitedNs ?? 0))
      : null,
  };
}

/** Resident memory of these processes together, in megabytes of 2^20 bytes. NaN for none, and where only Linux says. */
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

/** `/proc/PID/task/TID/schedstat`: time on a processor and time waited for one, nanoseconds, and slices (sched-stats.rst). */
export function parseSchedstat(text: string): { ranNs: number; waitedNs: number } {
  const [ranNs = 0, waitedNs = 0] = text.trim().split(" ").map(Number);
  return { ranNs, waitedNs };
}

/** User and system time of `/proc/PID/stat`, nanoseconds. The name before them may hold anything but ends with the last `)`. */
export function parseStat(text: string): number {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // Fields 14 and 15 of proc(5), counted from 1; the third is the first here.
  return (Number(fields[11]) + Number(fields[12])) * TICK_NS;
}

/** `[[DD-]HH:]MM:SS[.CC]` of ps, in nanoseconds. */
export function parsePsTime(text: string): number {
  const [clock = "", days = "0"] = text.trim().split("-").toReversed();
  const seconds = clock.split(":").reduce((total, part) => total * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * NS;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

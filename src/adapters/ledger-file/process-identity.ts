import * as fs from "node:fs";
import { hasCode } from "../../core/failure.ts";
import { parseStat } from "../../core/identity/process-stat.ts";

/** A running daemon renews each of its notes every minute. */
const SILENT_MS = 3 * 60_000;

/**
 * Names this process in the notes that it writes: its pid and when it started, so that no later process is taken for it. Consists
 * of letters, digits and hyphens.
 */
export function identifyProcess(): string {
  return identifyByProc(process.pid) ?? `${process.pid}-${Math.trunc(performance.timeOrigin)}`;
}

/**
 * True when the process of {@link identifyProcess} still runs. Where the system does not say when a process has started, a
 * process with its pid must run, and the note, last written at `writtenAt` (milliseconds since 1970), must be fresh.
 */
export function isRunning(identity: string, writtenAt: number): boolean {
  const pid = Number.parseInt(identity);
  if (process.platform === "linux") return identifyByProc(pid) === identity;
  if (pid === process.pid) return identity === identifyProcess();
  return hasProcess(pid) && Math.abs(Date.now() - writtenAt) < SILENT_MS;
}

/** By the boot of the system and the clock tick since then, as Linux reports them (proc_pid_stat(5)). */
function identifyByProc(pid: number): string | null {
  try {
    const stat = parseStat(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
    if (stat === null || stat.state === "Z") return null;
    const boot = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
    return `${pid}-${boot}-${stat.startedAt}`;
  } catch {
    return null;
  }
}

function hasProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

import { execFile } from "node:child_process";
import type { CommandResult } from "../daemon/daemon.ts";

/** No command that a test runs in there takes longer. */
const LIMIT_MS = 90_000;

/** Runs a program to its end in the namespaces of a process, as root: the files, processes and names that it sees. */
export function runInside(pid: number, argv: readonly string[]): Promise<CommandResult> {
  const enter = [`--target=${pid}`, "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--wdns=/"];
  const options = { timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile("nsenter", [...enter, ...argv], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      resolve({ code: typeof code === "number" ? code : null, stdout, stderr });
    });
  });
}

import { execFile } from "node:child_process";
import { LIMIT_MS } from "../async/limit.ts";
import type { CommandResult } from "../daemon/daemon.ts";

/** Runs a program as root in the namespaces of a process, with the files, processes and host name that it sees. */
export function runInNamespaces(pid: number, argv: readonly string[]): Promise<CommandResult> {
  const enter = [`--target=${pid}`, "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--wdns=/"];
  const options = { timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile("nsenter", [...enter, ...argv], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      resolve({ code: typeof code === "number" ? code : null, stdout, stderr });
    });
  });
}

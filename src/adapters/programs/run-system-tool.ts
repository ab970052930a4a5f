import { execFile } from "node:child_process";
import { findExecutable } from "./executables.ts";

/** Whatever the PATH is. The last is where NixOS has them. */
const SYSTEM_DIRECTORIES = "/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin";

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 1024 * 1024;

/** Resolves to a program's output; null when it fails, prints too much or takes longer than two seconds. */
export type RunSystemTool = (file: string, args: readonly string[]) => Promise<string | null>;

/** Runs a program by its absolute path, with an empty environment. */
export const runSystemTool: RunSystemTool = (file, args) =>
  new Promise((resolve) => {
    const limits = { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES, killSignal: "SIGKILL" } as const;
    execFile(file, args, { env: {}, ...limits }, (error, stdout) => resolve(error === null ? stdout : null));
  });

/** Returns the absolute path of one of the system's own programs; null when there is none. */
export function findSystemTool(name: string): string | null {
  return findExecutable(name, SYSTEM_DIRECTORIES);
}

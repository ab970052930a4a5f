import { execFile } from "node:child_process";

const LIMIT_MS = 2_000;
const MOST_BYTES = 1024 * 1024;

/** What a command prints; null when it fails, prints too much or takes more than two seconds. */
export type Run = (file: string, args: readonly string[]) => Promise<string | null>;

/** Runs a program of the system's by its absolute path, with nothing of our environment. */
export const runQuietly: Run = (file, args) =>
  new Promise((resolve) => {
    const limits = { timeout: LIMIT_MS, maxBuffer: MOST_BYTES, killSignal: "SIGKILL" } as const;
    execFile(file, args, { env: {}, ...limits }, (error, stdout) => resolve(error === null ? stdout : null));
  });

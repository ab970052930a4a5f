import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";

/** The exit code and output of a program. Code 127 means that there is no such program, as in a shell. */
export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program found on PATH, without a shell, and waits for it to exit. Never rejects. */
export type RunProgram = (argv: readonly string[]) => Promise<ProgramResult>;

/** More than any of these programs prints, log excerpts included. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/**
 * Returns this process's environment with the XDG_RUNTIME_DIR by which systemctl reaches the systemd of this user. cron and `docker exec` give
 * none, and `su` may give another user's. A home directory that is not the account's is left alone: its services are not the account's.
 */
export function sessionEnvironment(): NodeJS.ProcessEnv {
  const runtime = findSessionRuntime();
  return runtime === null ? process.env : { ...process.env, XDG_RUNTIME_DIR: runtime };
}

function findSessionRuntime(): string | null {
  try {
    const { uid, homedir: home } = userInfo();
    const runtime = `/run/user/${uid}`;
    return homedir() === home && existsSync(`${runtime}/systemd`) ? runtime : null;
  } catch {
    // A user id without an entry in the user database has no session either.
    return null;
  }
}

/** Sets LC_ALL=C, which keeps messages in English: the callers match against them. */
export const runProgram: RunProgram = ([file = "", ...args]) =>
  new Promise((resolve) => {
    const options = { env: { ...sessionEnvironment(), LC_ALL: "C" }, maxBuffer: MAX_OUTPUT_BYTES };
    execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (error.code === "ENOENT") resolve({ code: 127, stdout, stderr: `${file}: not found` });
      else resolve({ code: typeof error.code === "number" ? error.code : 1, stdout, stderr });
    });
  });

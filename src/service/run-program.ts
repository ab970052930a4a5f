import { execFile } from "node:child_process";

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

/** Sets LC_ALL=C, which keeps messages in English: the callers match against them. */
export const runProgram: RunProgram = ([file = "", ...args]) =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, LC_ALL: "C" }, maxBuffer: MAX_OUTPUT_BYTES };
    execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (error.code === "ENOENT") resolve({ code: 127, stdout, stderr: `${file}: not found` });
      else resolve({ code: typeof error.code === "number" ? error.code : 1, stdout, stderr });
    });
  });

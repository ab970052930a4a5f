import { execFile } from "node:child_process";
import type { RunProgram } from "./service-manager.ts";

/** More than any of these programs prints, log excerpts included. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/** Runs a program found on PATH. LC_ALL=C keeps its messages in English, which the callers match against. */
export const runProgram: RunProgram = ([file = "", ...args]) =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, LC_ALL: "C" }, maxBuffer: MAX_OUTPUT_BYTES };
    execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (error.code === "ENOENT") resolve({ code: 127, stdout, stderr: `${file}: not found` });
      else resolve({ code: typeof error.code === "number" ? error.code : 1, stdout, stderr });
    });
  });

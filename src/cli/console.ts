import { Failure } from "../core/failure.ts";

/** Exit codes of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** Prints one line on standard output: results, and nothing but results. */
export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Prints one line on standard error: what is said beside the results. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Says what went wrong and what to type next: `error:`, then `hint:`, one line each, on standard error. */
export function printFailure(error: unknown): void {
  note(`error: ${error instanceof Error ? error.message : String(error)}`);
  if (error instanceof Failure && error.hint !== undefined) note(`hint: ${error.hint}`);
}

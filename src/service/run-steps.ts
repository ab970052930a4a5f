import { lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { Failure, hasCode } from "../core/failure.ts";
import { formatCommand } from "../core/text/shell-words.ts";
import type { ProgramResult, RunProgram } from "./run-program.ts";
import type { Step } from "./service-manager.ts";
import { reasonOf } from "../core/system-error.ts";
import { replaceFile } from "../replace-file.ts";

/** A command of the service manager failed. Often the cause is the service that the command was to start. */
export class CommandFailure extends Failure {}

/** Pause before a command is repeated. */
const REPEAT_MS = 200;

type RunStep = Extract<Step, { kind: "run" }>;
type TryStep = Extract<Step, { kind: "try" }>;
type FileStep = Exclude<Step, RunStep | TryStep>;

interface Progress {
  run: RunProgram;
  /** Receives one line for each thing that is done. */
  report: (line: string) => void;
  hasChanged: boolean;
}

/**
 * Carries out steps in order, reporting each.
 * @throws Failure at the first step that does not succeed; the later ones are not attempted
 */
export async function runSteps(
  steps: readonly Step[],
  run: RunProgram,
  report: (line: string) => void,
): Promise<void> {
  await continueWith(steps, { run, report, hasChanged: false });
}

async function continueWith(steps: readonly Step[], progress: Progress): Promise<void> {
  for (const step of steps) {
    if (step.kind === "run") await runCommand(step, progress);
    else if (step.kind === "try") await tryCommand(step, progress);
    else {
      const done = applyFileStep(step);
      if (done === null) continue;
      progress.hasChanged = true;
      progress.report(`${done} ${step.path}`);
    }
  }
}

async function runCommand(step: RunStep, progress: Progress): Promise<void> {
  if (step.ifChanged === true && !progress.hasChanged) return;
  const command = formatCommand(step.argv);
  progress.report(`running: ${command}`);
  const result = await runRepeatedly(step, progress.run);
  if (result.code === 0 || step.tolerates?.test(result.stderr) === true) return;
  const isExplained = step.explains?.output.test(result.stdout + result.stderr) === true;
  const hint = isExplained ? step.explains?.hint : "find the cause with: tollkeeper service status";
  throw new CommandFailure(`${command} failed: ${summarize(result)}`, hint);
}

/** Returns the last result. */
async function runRepeatedly({ argv, repeats }: RunStep, run: RunProgram): Promise<ProgramResult> {
  const end = Date.now() + (repeats?.limitMs ?? 0);
  for (;;) {
    const result = await run(argv);
    if (repeats?.while.test(result.stdout + result.stderr) !== true || Date.now() >= end) return result;
    await delay(REPEAT_MS);
  }
}

async function tryCommand(step: TryStep, progress: Progress): Promise<void> {
  progress.report(`trying ${step.what}`);
  const result = await progress.run(step.argv);
  if (result.code !== 0) {
    const why = summarize(result, step.exitCodes[result.code]);
    progress.report(`${step.what} does not work on this system and is left out: ${why}`);
  }
  await continueWith(result.code === 0 ? step.onSuccess : step.onFailure, progress);
}

/** Returns the last three lines of output joined into one; without output, what the exit code means. */
function summarize({ code, stdout, stderr }: ProgramResult, meaning = `exit code ${code}`): string {
  const lines = (stderr.trim() || stdout.trim()).split("\n");
  return lines.slice(-3).join("; ") || meaning;
}

const STEP_VERBS = { write: "write", "make-directory": "create", remove: "remove" } as const;

/** Returns what was done, as a verb in the past tense; null when there was nothing to do. */
function applyFileStep(step: FileStep): string | null {
  try {
    switch (step.kind) {
      case "write":
        return write(step.path, step.text, step.mode) ? "wrote" : null;
      case "make-directory":
        return mkdirSync(step.path, { recursive: true, mode: step.mode }) === undefined ? null : "made";
      case "remove":
        return remove(step.path) ? "removed" : null;
    }
  } catch (error) {
    const message = `cannot ${STEP_VERBS[step.kind]} ${step.path}: ${reasonOf(error)}`;
    throw new Failure(message, undefined, { cause: error });
  }
}

/** Returns false when the file has that text already. */
function write(path: string, text: string, mode: number): boolean {
  if (contentsOf(path) === text) return false;
  replaceFile(path, text, { mode });
  return true;
}

/** Returns null when the file is missing or unreadable: either way it has to be written. */
function contentsOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function remove(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  // Dotfile managers link directories. Such a link belongs to the user.
  if (found === undefined || (found.isSymbolicLink() && isDirectory(path))) return false;
  try {
    if (found.isDirectory()) rmdirSync(path);
    else rmSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOTEMPTY")) return false;
    throw error;
  }
}

/** Follows symbolic links. */
function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

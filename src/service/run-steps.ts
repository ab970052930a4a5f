import { setTimeout as delay } from "node:timers/promises";
import { formatCommand } from "../core/text/shell-words.ts";
import { Failure } from "../core/failure.ts";
import { applyFileStep } from "./file-steps.ts";
import type { ProgramResult, RunProgram, Step } from "./service-manager.ts";

/** A command of the service manager failed. Often the cause is the service that the command was to start. */
export class CommandFailure extends Failure {}

/** Pause before a command is repeated. */
const REPEAT_MS = 200;

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

async function runCommand(step: Extract<Step, { kind: "run" }>, progress: Progress): Promise<void> {
  if (step.ifChanged === true && !progress.hasChanged) return;
  progress.report(`running: ${formatCommand(step.argv)}`);
  const result = await runRepeatedly(step, progress.run);
  if (result.code === 0 || step.tolerates?.test(result.stderr) === true) return;
  throw new CommandFailure(
    `${formatCommand(step.argv)} failed: ${summarize(result)}`,
    "see what it is about with: tollkeeper service status",
  );
}

/** Repeats the command while its output asks for it, up to the step's limit. Returns the last result. */
async function runRepeatedly(
  { argv, repeats }: Extract<Step, { kind: "run" }>,
  run: RunProgram,
): Promise<ProgramResult> {
  const end = Date.now() + (repeats?.limitMs ?? 0);
  for (;;) {
    const result = await run(argv);
    if (repeats?.while.test(result.stdout + result.stderr) !== true || Date.now() >= end) return result;
    await delay(REPEAT_MS);
  }
}

async function tryCommand(step: Extract<Step, { kind: "try" }>, progress: Progress): Promise<void> {
  progress.report(`trying ${step.what}`);
  const result = await progress.run(step.argv);
  if (result.code !== 0) {
    const why = summarize(result, step.exitCodes[result.code]);
    progress.report(`${step.what} does not work here, and is left out: ${why}`);
  }
  await continueWith(result.code === 0 ? step.onSuccess : step.onFailure, progress);
}

/** Returns the last three lines of output joined into one; without output, what the exit code means. */
function summarize({ code, stdout, stderr }: ProgramResult, meaning?: string): string {
  const lines = (stderr.trim() || stdout.trim()).split("\n");
  return lines.slice(-3).join("; ") || (meaning ?? `exit code ${code}`);
}

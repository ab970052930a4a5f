import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../core/failure.ts";
import { doFileStep } from "./file-steps.ts";
import type { ProgramResult, RunProgram, Step } from "./service-manager.ts";
import { writeCommand } from "./write-command.ts";

/** A command of the service manager's failed, which is often about the service that it was to start. */
export class CommandFailure extends Failure {}

/** Between two tries of a command that is to be repeated. */
const REPEAT_MS = 200;

interface Run {
  run: RunProgram;
  /** Gets a line for each thing that is done. */
  tell: (line: string) => void;
  hasChanged: boolean;
}

/** Does what a plan says, in order, and tells each step. Throws a Failure at the first that does not succeed. */
export async function runSteps(
  steps: readonly Step[],
  run: RunProgram,
  tell: (line: string) => void,
): Promise<void> {
  await doSteps(steps, { run, tell, hasChanged: false });
}

async function doSteps(steps: readonly Step[], state: Run): Promise<void> {
  for (const step of steps) {
    if (step.kind === "run") await runCommand(step, state);
    else if (step.kind === "try") await tryCommand(step, state);
    else {
      const done = doFileStep(step);
      if (done === null) continue;
      state.hasChanged = true;
      state.tell(`${done} ${step.path}`);
    }
  }
}

async function runCommand(step: Extract<Step, { kind: "run" }>, state: Run): Promise<void> {
  if (step.ifChanged === true && !state.hasChanged) return;
  state.tell(`running: ${writeCommand(step.argv)}`);
  const result = await repeatedly(step, state.run);
  if (result.code === 0 || step.tolerates?.test(result.stderr) === true) return;
  throw new CommandFailure(
    `${writeCommand(step.argv)} failed: ${lastWords(result)}`,
    "see what it is about with: tollkeeper service status",
  );
}

/** Runs the command until it does not say any more that it must wait. */
async function repeatedly(
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

async function tryCommand(step: Extract<Step, { kind: "try" }>, state: Run): Promise<void> {
  state.tell(`trying ${step.what}`);
  const result = await state.run(step.argv);
  if (result.code !== 0) {
    const why = lastWords(result, step.exitCodes[result.code]);
    state.tell(`${step.what} does not work here, and is left out: ${why}`);
  }
  await doSteps(result.code === 0 ? step.onSuccess : step.onFailure, state);
}

/** What it said in the end, on one line; where it said nothing, its exit code, or what that means. */
function lastWords({ code, stdout, stderr }: ProgramResult, meaning?: string): string {
  const lines = (stderr.trim() || stdout.trim()).split("\n");
  const said = lines.slice(-3).join("; ");
  return said || (meaning ?? `exit code ${code}`);
}

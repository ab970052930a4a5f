import { setTimeout as delay } from "node:timers/promises";
import { refuseExposed } from "../../adapters/trust/exposure.ts";
import { Failure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import { describeSteps } from "../../service/describe-steps.ts";
import { runProgram } from "../../service/run-program.ts";
import { CommandFailure, runSteps } from "../../service/run-steps.ts";
import type { Plan, ServiceManager, ServiceState, Step } from "../../service/service-manager.ts";
import { note, print } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";
import { isListeningOn } from "./conflicts.ts";
import { diagnoseFailure } from "./diagnose.ts";
import { fixOf } from "../../adapters/system-fix.ts";

/** A start takes about 250 ms; the rest is for a machine under load. */
const START_LIMIT_MS = 15_000;
const POLL_MS = 100;

/** How many lines of the log are shown when a start fails. */
const SHOWN_LINES = 12;

/**
 * Carries out a plan, printing each step, or, with `dryRun`, only shows it. The caller prints the notes at the end.
 * @throws Failure, with nothing done, when somebody else could change a file that it writes
 */
export async function executePlan({ steps }: Plan, dryRun: boolean): Promise<void> {
  if (steps.length === 0) print("nothing to do");
  for (const path of filesWritten(steps))
    await refuseExposed(path, `${path}, which says what the service runs`);
  if (dryRun) for (const line of describeSteps(steps)) print(line);
  else await runSteps(steps, runProgram, print);
}

function filesWritten(steps: readonly Step[]): string[] {
  return steps.flatMap((step) => {
    if (step.kind === "try") return filesWritten([...step.onSuccess, ...step.onFailure]);
    return step.kind === "write" ? [step.path] : [];
  });
}

/** Prints a plan's notes. */
export function printNotes({ notes }: Plan): void {
  for (const text of notes) note(`note: ${text}`);
}

/** Prints how many open exchanges the daemon waits for before it exits; nothing when there are none. */
export function printOpenExchanges({ openExchanges: open }: DaemonStatus): void {
  if (open > 0) print(describeOpenExchanges(open));
}

/** Prints the same of a restart, with what becomes of new connections until the next daemon listens. */
export function printRestart({ openExchanges: open }: DaemonStatus, { holdsPort }: ServiceState): void {
  const fate = holdsPort ? "new connections wait" : "new connections are refused";
  if (open > 0) print(`${describeOpenExchanges(open)}; until then ${fate}`);
}

function describeOpenExchanges(open: number): string {
  return `waiting for ${pluralize(open, "open request")} to finish`;
}

/**
 * Carries out a plan that starts the daemon, and waits until the daemon responds and listens on the port.
 * @param port 0 for any
 * @throws Failure with the likely cause when it does not start, after printing the newest lines of its log
 */
export async function executeStartPlan(
  manager: ServiceManager,
  plan: Plan,
  port: number,
): Promise<DaemonStatus> {
  const startedMs = Date.now();
  try {
    await executePlan(plan, false);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    throw await explainFailedStart(manager, startedMs, error);
  }
  const status = await waitUntilListening(port);
  if (status === null) throw await explainFailedStart(manager, startedMs, null);
  return status;
}

async function waitUntilListening(port: number): Promise<DaemonStatus | null> {
  const end = Date.now() + START_LIMIT_MS;
  while (Date.now() < end) {
    // A starting daemon may respond with an error.
    const status = await daemonStatus().catch(() => null);
    if (status !== null && (port === 0 || isListeningOn(status, port))) return status;
    await delay(POLL_MS);
  }
  return null;
}

/** Shows only log lines since `startedMs`: older ones may be about failures that are resolved. */
async function explainFailedStart(
  manager: ServiceManager,
  startedMs: number,
  failed: CommandFailure | null,
): Promise<Failure> {
  const state = await manager.state();
  const lines = await manager.lastLines(SHOWN_LINES, startedMs);
  if (lines.length === 0) note("its log has no lines about it that you can read");
  else note(["the newest lines of its log:", ...lines].join("\n    "));
  const problem = (await manager.problems()).find(({ preventsStart }) => preventsStart);
  const texts = [state.detail, failed?.message ?? "", ...lines.toReversed()];
  const found = problem ?? (await diagnoseFailure(manager, state, texts));
  const why = found?.message ?? failed?.message ?? `it did not respond within ${START_LIMIT_MS / 1000} s`;
  const hint = found?.fix ?? fixOf(failed) ?? "to see more of its log, type: tollkeeper service logs -n 100";
  return new Failure(`the service does not start (${state.detail}): ${why}`, hint);
}

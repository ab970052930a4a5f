import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../core/failure.ts";
import { describeSteps } from "../../service/describe-steps.ts";
import { runProgram } from "../../service/run-program.ts";
import { CommandFailure, runSteps } from "../../service/run-steps.ts";
import type { Plan, ServiceManager } from "../../service/service-manager.ts";
import { countOf } from "../terminal/count-of.ts";
import { note, print } from "../terminal/console.ts";
import { daemonStatus } from "../../daemon/client.ts";
import { likelyCause } from "./causes.ts";
import { listensOn } from "./conflicts.ts";
import type { DaemonStatus } from "../commands/status/report.ts";

/** A start takes a quarter of a second; this is for a machine that is busy with its own. */
const START_LIMIT_MS = 15_000;
const POLL_MS = 100;

/** How much of the log is shown when a start fails. */
const SHOWN_LINES = 12;

/** Does what a plan says, telling each step; or, with `dryRun`, only shows it. Its notes are for the end: {@link tellNotes}. */
export async function carryOut({ steps }: Plan, dryRun: boolean): Promise<void> {
  if (steps.length === 0) print("nothing is to be done");
  if (dryRun) for (const line of describeSteps(steps)) print(line);
  else await runSteps(steps, runProgram, print);
}

/** Tells what a plan has to say beside its steps. */
export function tellNotes({ notes }: Plan): void {
  for (const text of notes) note(`note: ${text}`);
}

/** Says what the service's daemon waits for before it ends. */
export function tellOpenExchanges({ openExchanges: open }: DaemonStatus): void {
  if (open > 0) print(`waiting for ${countOf(open, "open exchange")}, which may finish first`);
}

/**
 * Carries out a plan that ends with a running daemon, and waits until that answers and listens on the port.
 * @param port 0 for any
 * @throws Failure with the likely cause when it does not start; the newest lines of its log are shown before
 */
export async function startByPlan(manager: ServiceManager, plan: Plan, port: number): Promise<DaemonStatus> {
  const begunMs = Date.now();
  try {
    await carryOut(plan, false);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    throw await explain(manager, begunMs, error);
  }
  const status = await untilItListens(port);
  if (status === null) throw await explain(manager, begunMs, null);
  return status;
}

async function untilItListens(port: number): Promise<DaemonStatus | null> {
  const end = Date.now() + START_LIMIT_MS;
  while (Date.now() < end) {
    // While it starts, it may not answer as it should.
    const status = await daemonStatus().catch(() => null);
    if (status !== null && (port === 0 || listensOn(status, port))) return status;
    await delay(POLL_MS);
  }
  return null;
}

/** Lines from before `begunMs` tell of other failures, which may be over. */
async function explain(
  manager: ServiceManager,
  begunMs: number,
  failed: CommandFailure | null,
): Promise<Failure> {
  const { detail } = await manager.state();
  const lines = await manager.lastLines(SHOWN_LINES, begunMs);
  if (lines.length > 0)
    note(`the newest lines of its log:\n${lines.map((line) => `    ${line}`).join("\n")}`);
  else note("its log shows nothing of it to this user");
  const newestFirst = lines.toReversed();
  const cause = likelyCause([detail, failed?.message ?? "", ...newestFirst]);
  const why = cause?.what ?? failed?.message ?? `it did not answer within ${START_LIMIT_MS / 1000} s`;
  const hint = cause?.hint ?? "see more of its log with: tollkeeper service logs -n 100";
  return new Failure(`the service does not start (${detail}): ${why}`, hint);
}

import { setTimeout as delay } from "node:timers/promises";
import { daemonStatus, notifyDaemon } from "../../daemon/running-daemon.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import { findServiceManager, findUnreachedDefinition } from "../../service/find-manager.ts";
import { print } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";
import { executePlan, printNotes, printOpenExchanges } from "./execute-plan.ts";

const POLL_MS = 100;

/** Stops the service, and then a manually started daemon of this user, if there is one. */
export async function stopService(dryRun: boolean): Promise<void> {
  const manager = await findServiceManager().catch(async (error: unknown) => {
    // A manually started daemon can be stopped even without a service manager. One of a service that is not reached is not known.
    if ((await daemonStatus()) === null && findUnreachedDefinition() !== null) throw error;
    return null;
  });
  const [state, plan] = [await manager?.state(), await manager?.stop()];
  // A hanging daemon of the service is left to its manager; a manually started one is queried again below.
  const running = await daemonStatus().catch(() => null);
  const manual = running === null || running.pid === state?.pid ? null : running;
  if (running === null && (plan === undefined || plan.steps.length === 0) && (await daemonStatus()) === null)
    return print("tollkeeper is not running; there is nothing to stop");
  if (plan !== undefined && (plan.steps.length > 0 || manual === null)) {
    if (manual === null && running !== null && !dryRun) printOpenExchanges(running);
    await executePlan(plan, dryRun);
    printNotes(plan);
  }
  if (!dryRun) await drainDaemon();
  else if (manual !== null) print(`stop ${describeManualDaemon(manual)}, after its open requests finish`);
}

/** Asks the daemon once to drain, and waits until it is gone. Interrupting the wait does not interrupt the drain. */
async function drainDaemon(): Promise<void> {
  const status = await statusWhileStopping();
  if (status === null) return;
  if (status.state !== "stopping") await notifyDaemon("drain");
  const { pid, openExchanges: open } = status;
  if (open > 0) print(`waiting for ${pluralize(open, "open request")} to finish; Ctrl-C ends only this wait`);
  do await delay(POLL_MS);
  while ((await statusWhileStopping())?.pid === pid);
  print(`${describeManualDaemon(status)}, has stopped`);
}

/** Retries once: a daemon that is exiting may close the control socket in the middle of a query. */
async function statusWhileStopping(): Promise<DaemonStatus | null> {
  try {
    return await daemonStatus();
  } catch {
    await delay(POLL_MS);
    return daemonStatus();
  }
}

function describeManualDaemon({ pid }: DaemonStatus): string {
  return `the daemon that was started by hand, pid ${pid}`;
}

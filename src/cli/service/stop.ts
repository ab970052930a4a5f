import { setTimeout as delay } from "node:timers/promises";
import { countOf } from "../terminal/count-of.ts";
import { print } from "../terminal/console.ts";
import { daemonStatus, notifyDaemon } from "../../daemon/client.ts";
import { openServiceManager } from "./open-manager.ts";
import { carryOut, tellNotes, tellOpenExchanges } from "./plan.ts";
import type { DaemonStatus } from "../commands/status/report.ts";

const POLL_MS = 100;

/** Stops the service, and then whatever daemon of this user still answers, which was started by hand. */
export async function stopService(dryRun: boolean): Promise<void> {
  const manager = await openServiceManager().catch(async (error: unknown) => {
    // Also where there is none, a daemon that was started by hand can be stopped.
    if ((await daemonStatus()) === null) throw error;
    return null;
  });
  const [state, plan] = [await manager?.state(), await manager?.stop()];
  // The service's own that hangs is for its manager to end; one that was started by hand is asked again below.
  const running = await daemonStatus().catch(() => null);
  const byHand = running === null || running.pid === state?.pid ? null : running;
  if (plan !== undefined && (plan.steps.length > 0 || byHand === null)) {
    if (byHand === null && running !== null && !dryRun) tellOpenExchanges(running);
    await carryOut(plan, dryRun);
    tellNotes(plan);
  }
  if (!dryRun) await drainDaemon();
  else if (byHand !== null) print(`stop ${describe(byHand)}: its open exchanges may finish first`);
}

/** Whoever does not wait for that leaves it to finish by itself: it is told once. */
async function drainDaemon(): Promise<void> {
  const status = await statusAtTheEnd();
  if (status === null) return;
  if (status.state !== "stopping") await notifyDaemon("drain");
  const { openExchanges: open } = status;
  if (open > 0) print(`waiting for ${countOf(open, "open exchange")}; Ctrl-C leaves it to finish by itself`);
  await untilGone(status.pid);
  print(`${describe(status)}, has stopped`);
}

async function untilGone(pid: number): Promise<void> {
  do await delay(POLL_MS);
  while ((await statusAtTheEnd())?.pid === pid);
}

/** A daemon breaks off what it is asked at its very end; one that does so a moment later, too, has other troubles. */
async function statusAtTheEnd(): Promise<DaemonStatus | null> {
  try {
    return await daemonStatus();
  } catch {
    await delay(POLL_MS);
    return daemonStatus();
  }
}

function describe({ pid }: DaemonStatus): string {
  return `the daemon that was started by hand, pid ${pid}`;
}

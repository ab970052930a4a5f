import { print } from "./console.ts";
import { daemonStatus, notifyDaemon } from "./daemon.ts";
import { openServiceManager } from "./service-manager.ts";
import { carryOut, tellNotes } from "./service-plan.ts";

/** Stops the service, and then whatever daemon of this user still answers, which was started by hand. */
export async function stopService(dryRun: boolean): Promise<void> {
  const running = await daemonStatus();
  const manager = await openServiceManager().catch((error: unknown) => {
    // Also where there is none, a daemon that was started by hand can be stopped.
    if (running === null) throw error;
    return null;
  });
  if (manager !== null) {
    const plan = await manager.stop();
    await carryOut(plan, dryRun);
    tellNotes(plan);
  }
  if (!dryRun) await drainDaemon();
}

async function drainDaemon(): Promise<void> {
  const status = await daemonStatus();
  if (status === null) return;
  await notifyDaemon("drain");
  const { pid, openExchanges: open } = status;
  const when = open === 0 ? "" : `, once its ${open} open exchanges have finished`;
  print(`the daemon that was started by hand, pid ${pid}, stops${when}`);
}

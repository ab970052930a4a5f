import { Failure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import type { ServiceManager } from "../../service/service-manager.ts";
import { attempt } from "../attempt.ts";
import { executePlan, printNotes } from "../service/execute-plan.ts";
import { stopService } from "../service/stop.ts";
import type { Removal } from "./removal.ts";

/** Finds the background service, and the daemon that runs now. */
export async function findService(): Promise<{ removals: Removal[]; configFile: string | null }> {
  const { value: manager } = await attempt(Failure, () => findServiceManager());
  const state = (await manager?.state()) ?? null;
  const isThere = state !== null && (state.isInstalled || state.isEnabled || state.files.length > 0);
  const service: Removal[] =
    manager === null || !isThere
      ? []
      : [
          {
            label: "service",
            what: `${manager.name}, ${state.isRunning ? "running" : "not running"}`,
            byHand: "tollkeeper service uninstall",
            remove: () => uninstall(manager),
          },
        ];
  // A daemon that hangs is left to be reported when it is stopped.
  const running = await daemonStatus().catch(() => undefined);
  const isByHand = running !== null && (running === undefined || running.pid !== state?.pid);
  const pid = running === undefined || running === null ? "" : `, pid ${running.pid}`;
  const daemon: Removal = {
    label: "daemon",
    what: `started by hand${pid}`,
    effect: "it will be stopped",
    byHand: "tollkeeper service stop",
    remove: () => stopService(false),
  };
  return { removals: isByHand ? [...service, daemon] : service, configFile: state?.configFile ?? null };
}

async function uninstall(manager: ServiceManager): Promise<void> {
  const plan = await manager.uninstall();
  await executePlan(plan, false);
  printNotes(plan);
}

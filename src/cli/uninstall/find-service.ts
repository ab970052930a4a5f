import { currentHost } from "../../adapters/paths.ts";
import { Failure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { findServiceManager, findUnreachedDefinition } from "../../service/find-manager.ts";
import type { ServiceManager, ServiceState } from "../../service/service-manager.ts";
import { attempt } from "../attempt.ts";
import { executePlan, printNotes } from "../service/execute-plan.ts";
import { stopService } from "../service/stop.ts";
import { displayPath } from "../terminal/format.ts";
import type { Removal } from "./removal.ts";

/** Finds the background service, and the daemon that runs now. */
export async function findService(): Promise<{ removals: Removal[]; configFile: string | null }> {
  const { value: manager, failure } = await attempt(Failure, () => findServiceManager());
  const state = (await manager?.state()) ?? null;
  const isThere = state !== null && (state.isInstalled || state.isEnabled || state.files.length > 0);
  const service = manager === null ? findUnreached(failure) : isThere ? [serviceOf(manager, state)] : [];
  // A daemon that hangs is left to be reported when it is stopped.
  const running = await daemonStatus().catch(() => undefined);
  const isByHand = running !== null && (running === undefined || running.pid !== state?.pid);
  const pid = running === undefined || running === null ? "" : `, pid ${running.pid}`;
  const daemon: Removal = {
    label: "daemon",
    what: `started by hand${pid}`,
    effect: "it will be stopped",
    done: "stopped",
    byHand: "tollkeeper service stop",
    remove: () => stopService(false),
  };
  return { removals: isByHand ? [...service, daemon] : service, configFile: state?.configFile ?? null };
}

function serviceOf(manager: ServiceManager, { isRunning }: ServiceState): Removal {
  return {
    label: "service",
    what: `${manager.name}, ${isRunning ? "running" : "not running"}`,
    byHand: "tollkeeper service uninstall",
    remove: () => uninstall(manager),
  };
}

/** An installed service that cannot be uninstalled from this session must not go unmentioned. */
function findUnreached(failure: Failure): Removal[] {
  const definition = findUnreachedDefinition();
  if (definition === null) return [];
  return [
    {
      label: "service",
      what: displayPath(definition, currentHost().home),
      byHand: "tollkeeper service uninstall",
      remove() {
        throw failure;
      },
    },
  ];
}

async function uninstall(manager: ServiceManager): Promise<void> {
  const plan = await manager.uninstall();
  await executePlan(plan, false);
  printNotes(plan);
}

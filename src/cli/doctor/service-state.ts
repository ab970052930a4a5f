import { Failure } from "../../core/failure.ts";
import type { ServiceState } from "../../service/service-manager.ts";
import { openServiceManager } from "../service-manager.ts";

/** What the service manager knows of the service, or why there is none to ask, with what to use instead. */
export interface ServiceAnswer {
  /** `systemd` or `launchd`; empty where there is none. */
  managerName: string;
  state: ServiceState | null;
  failure: Failure | null;
  /** The end of its log, oldest line first, when it is there and does not run. */
  lastLines: string[];
}

/** Far more than a daemon says when it cannot start. */
const LINES = 20;

/** Asks this user's own service manager. */
export async function askServiceManager(): Promise<ServiceAnswer> {
  try {
    const manager = await openServiceManager();
    const state = await manager.state();
    const isSilent = !state.isInstalled || state.isRunning || state.holdsPort;
    const lastLines = isSilent ? [] : await manager.lastLines(LINES);
    return { managerName: manager.name, state, failure: null, lastLines };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { managerName: "", state: null, failure: error, lastLines: [] };
  }
}

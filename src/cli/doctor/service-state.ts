import { Failure } from "../../core/failure.ts";
import type { ServiceState } from "../../service/service-manager.ts";
import type { Cause } from "../service/causes.ts";
import { findCause } from "../service/find-cause.ts";
import { openServiceManager } from "../service/open-manager.ts";

/** What the service manager knows of the service, or why there is none to ask, with what to use instead. */
export interface ServiceAnswer {
  /** `systemd` or `launchd`; empty where there is none. */
  managerName: string;
  state: ServiceState | null;
  failure: Failure | null;
  /** Why it has failed; null when it has not, or nothing tells. */
  cause: Cause | null;
}

/** Asks this user's own service manager. */
export async function askServiceManager(): Promise<ServiceAnswer> {
  try {
    const manager = await openServiceManager();
    const state = await manager.state();
    const cause = await findCause(manager, state);
    return { managerName: manager.name, state, failure: null, cause };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { managerName: "", state: null, failure: error, cause: null };
  }
}

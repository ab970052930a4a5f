import { Failure } from "../../../core/failure.ts";
import { findServiceManager } from "../../../service/find-manager.ts";
import type { ServiceState } from "../../../service/service-manager.ts";
import { attempt } from "../../attempt.ts";
import { findFailureCause, type FailureCause } from "../../service/failure-cause.ts";

/** What the service manager reports about the service, or why no service manager could be asked. */
export interface ServiceProbe {
  /** `systemd` or `launchd`; empty when there is none. */
  managerName: string;
  state: ServiceState | null;
  /** Its hint says what to use instead. */
  failure: Failure | null;
  /** Why the service has failed; null when it has not, or when the cause is unknown. */
  cause: FailureCause | null;
}

/** Asks the service manager of this user. */
export async function probeService(): Promise<ServiceProbe> {
  const { value, failure } = await attempt(Failure, async () => {
    const manager = await findServiceManager();
    const state = await manager.state();
    return { managerName: manager.name, state, cause: await findFailureCause(manager, state) };
  });
  return { managerName: "", state: null, cause: null, ...value, failure };
}

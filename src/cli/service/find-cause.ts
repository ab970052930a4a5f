import type { ServiceManager, ServiceState } from "../../service/service-manager.ts";
import { likelyCause, type Cause } from "./causes.ts";

/** Far more than a daemon says when it cannot start. */
const LINES = 20;

/**
 * Why a service has failed, as far as its manager's words and its log since the last start tell; null where they do not,
 * or where it has not.
 */
export async function findCause(manager: ServiceManager, state: ServiceState): Promise<Cause | null> {
  if (!state.hasFailed) return null;
  const lines = await manager.lastLines(LINES, "last start");
  return likelyCause([state.detail, ...lines.toReversed()]);
}

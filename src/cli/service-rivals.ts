import { Failure } from "../core/failure.ts";
import type { ServiceState } from "../service/service-manager.ts";
import { daemonStatus } from "./daemon.ts";
import { portUsurped } from "./port-holder.ts";

/**
 * Throws a Failure when somebody else is where the service is to be: a daemon that was started by hand, since there can
 * only be one, or another program on the port (0 for any).
 * @param command what to type once it is gone
 */
export async function refuseRivals(state: ServiceState, port: number, command: string): Promise<void> {
  const status = await daemonStatus();
  if (status !== null && status.pid !== state.pid) {
    throw new Failure(
      `a daemon that was started by hand runs already: pid ${status.pid}, listening on ${status.listening.join(" and ")}`,
      `stop it with: tollkeeper service stop; then: ${command}`,
    );
  }
  if (status !== null || state.isRunning || state.holdsPort || port === 0) return;
  const usurped = await portUsurped(port);
  if (usurped !== null) throw usurped;
}

import { Failure } from "../../core/failure.ts";
import type { ServiceState } from "../../service/service-manager.ts";
import { countOf } from "../terminal/count-of.ts";
import { daemonStatus } from "../../daemon/client.ts";
import { portTaken, portUsurped } from "../../daemon/port-holder.ts";
import type { DaemonStatus } from "../commands/status/report.ts";

/**
 * Throws a Failure when somebody else is where the service is to be: a daemon that was started by hand, since there can
 * only be one, or another program on the port (0 for any).
 * @param command what to type once it is gone
 * @returns what the service's own daemon says of itself; null when it does not run, or does not answer
 */
export async function refuseConflicts(
  state: ServiceState,
  port: number,
  command: string,
): Promise<DaemonStatus | null> {
  const status = await daemonStatus().catch((error: unknown) => {
    // The service's own that hangs is for its manager to end.
    if (state.isRunning) return null;
    throw error;
  });
  if (status !== null && status.pid !== state.pid) throw startedByHand(status, command);
  if (port === 0 || isOwnPort(port, state, status)) return status;
  const usurped = await portUsurped(port);
  if (usurped !== null) throw state.isRunning ? portTaken(port, usurped) : usurped;
  return status;
}

/** Does the daemon listen on the port? */
export function listensOn({ listening }: DaemonStatus, port: number): boolean {
  return listening.some((address) => address.endsWith(`:${port}`));
}

function isOwnPort(port: number, state: ServiceState, status: DaemonStatus | null): boolean {
  if (state.holdsPort && state.port === port) return true;
  // One that does not answer does not say where it listens.
  return status === null ? state.isRunning : listensOn(status, port);
}

function startedByHand({ pid, state, listening, openExchanges }: DaemonStatus, command: string): Failure {
  if (state === "stopping") {
    return new Failure(
      `a daemon that was started by hand, pid ${pid}, is stopping: ${countOf(openExchanges, "open exchange")} may finish first`,
      `wait for it with: tollkeeper service stop; then: ${command}`,
    );
  }
  return new Failure(
    `a daemon that was started by hand runs already: pid ${pid}, listening on ${listening.join(" and ")}`,
    `stop it with: tollkeeper service stop; then: ${command}`,
  );
}

import { Failure } from "../../core/failure.ts";
import type { ServiceState } from "../../service/service-manager.ts";
import { pluralize } from "../terminal/numbers.ts";
import { daemonStatus } from "../../daemon/client.ts";
import { portTaken, checkPortFree } from "../../adapters/port-holder.ts";
import type { DaemonStatus } from "../../daemon/status-types.ts";

/**
 * Checks for conflicts with the service: a manually started daemon, since there can only be one, or another program on the
 * port.
 * @param port 0 for any
 * @param command the command to repeat once the conflict is resolved
 * @returns the status of the service's own daemon; null when it is not running or does not respond
 * @throws Failure naming the conflict
 */
export async function refuseConflicts(
  state: ServiceState,
  port: number,
  command: string,
): Promise<DaemonStatus | null> {
  const status = await daemonStatus().catch((error: unknown) => {
    // A hanging daemon of the service itself is left to its manager.
    if (state.isRunning) return null;
    throw error;
  });
  if (status !== null && status.pid !== state.pid) throw startedByHand(status, command);
  if (port === 0 || isOwnPort(port, state, status)) return status;
  const usurped = await checkPortFree(port);
  if (usurped !== null) throw state.isRunning ? portTaken(port, usurped) : usurped;
  return status;
}

/** True when the daemon listens on the port. */
export function isListeningOn({ listening }: DaemonStatus, port: number): boolean {
  return listening.some((address) => address.endsWith(`:${port}`));
}

function isOwnPort(port: number, state: ServiceState, status: DaemonStatus | null): boolean {
  if (state.holdsPort && state.port === port) return true;
  // Without a response, the running service's daemon is assumed to be on its port.
  return status === null ? state.isRunning : isListeningOn(status, port);
}

function startedByHand({ pid, state, listening, openExchanges }: DaemonStatus, command: string): Failure {
  if (state === "stopping") {
    return new Failure(
      `a daemon that was started by hand, pid ${pid}, is stopping: ${pluralize(openExchanges, "open exchange")} may finish first`,
      `wait for it with: tollkeeper service stop; then: ${command}`,
    );
  }
  return new Failure(
    `a daemon that was started by hand runs already: pid ${pid}, listening on ${listening.join(" and ")}`,
    `stop it with: tollkeeper service stop; then: ${command}`,
  );
}

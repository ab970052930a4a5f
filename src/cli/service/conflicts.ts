import { checkPortFree, portTaken } from "../../adapters/port-holder.ts";
import { Failure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import type { ServiceState } from "../../service/service-manager.ts";
import { pluralize } from "../terminal/format.ts";

/**
 * Requires that no manually started daemon runs, since there can only be one, and that no other program uses the port.
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
  const failure = await checkPortFree(port);
  if (failure !== null) throw state.isRunning ? portTaken(port, failure) : failure;
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
  const stop = `tollkeeper service stop; then: ${command}`;
  if (state === "stopping") {
    const open = pluralize(openExchanges, "open request");
    const message = `a daemon that was started by hand, pid ${pid}, is stopping: it waits for ${open} to finish`;
    return new Failure(message, `wait for it with: ${stop}`);
  }
  const message = `a daemon that was started by hand is already running: pid ${pid}, listening on ${listening.join(" and ")}`;
  return new Failure(message, `stop it with: ${stop}`);
}

import { askDaemon, type ControlAction } from "../adapters/control-socket.ts";
import { Failure } from "../core/failure.ts";
import { findControlPath } from "./control/find-path.ts";
import type { DaemonStatus } from "./status.ts";

/** Sends a command to the running daemon. Returns false when none is running. */
export async function notifyDaemon(action: ControlAction): Promise<boolean> {
  return (await askDaemon(await findControlPath(), action)) !== null;
}

/** Returns the status of the running daemon; null when none is running. */
export async function daemonStatus(): Promise<DaemonStatus | null> {
  return (await askDaemon(await findControlPath(), "status")) as DaemonStatus | null;
}

/** Throws a Failure when a daemon of this user is already running. */
export async function refuseSecondDaemon(): Promise<void> {
  const running = await daemonStatus();
  if (running === null) return;
  if (running.state === "stopping") {
    throw new Failure(
      `tollkeeper is still stopping: pid ${running.pid}, open requests: ${running.openExchanges}`,
      "wait until it has stopped, then start again",
    );
  }
  const where = running.listening.join(" and ");
  throw new Failure(
    `tollkeeper is already running: pid ${running.pid}, listening on ${where}`,
    `see it with: tollkeeper status; stop it with: tollkeeper service stop`,
  );
}

/** Returns the port of a running daemon, which is the same on each of its addresses. */
export function listeningPort({ listening }: DaemonStatus): number {
  return Number(/:(\d+)$/.exec(listening[0] ?? "")?.[1]);
}

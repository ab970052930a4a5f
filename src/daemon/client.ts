import { join } from "node:path";
import { askDaemon, type ControlOrder } from "../adapters/control-socket.ts";
import { Failure } from "../core/failure.ts";
import { runtimeDirectory } from "../adapters/paths.ts";
import type { DaemonStatus } from "../cli/commands/status/report.ts";

/** Where this user's daemon listens for the CLI. */
export function controlPath(): string {
  return join(runtimeDirectory(), "control.sock");
}

/** Tells a running daemon what to do; false when none runs. */
export async function notifyDaemon(what: ControlOrder): Promise<boolean> {
  return (await askDaemon(controlPath(), what)) !== null;
}

/** What the running daemon says of itself; null when none runs. */
export async function daemonStatus(): Promise<DaemonStatus | null> {
  return (await askDaemon(controlPath(), "status")) as DaemonStatus | null;
}

/** What the running daemon says of itself. @throws Failure when none runs */
export async function runningDaemon(): Promise<DaemonStatus> {
  const status = await daemonStatus();
  if (status === null) throw notRunning();
  return status;
}

/** The failure of what needs a daemon, and finds none. */
export function notRunning(): Failure {
  return new Failure(
    "tollkeeper is not running",
    "start it with: tollkeeper service start; or in the foreground: tollkeeper serve",
  );
}

/** Throws a Failure when a daemon of this user runs already. */
export async function refuseSecondDaemon(): Promise<void> {
  const running = await daemonStatus();
  if (running === null) return;
  if (running.state === "stopping") {
    throw new Failure(
      `tollkeeper is still stopping: pid ${running.pid} waits for ${running.openExchanges} open exchanges`,
      "wait for it, and start again",
    );
  }
  const where = running.listening.join(" and ");
  throw new Failure(
    `tollkeeper is already running: pid ${running.pid}, listening on ${where}`,
    `see it with: tollkeeper status; stop it with: tollkeeper service stop`,
  );
}

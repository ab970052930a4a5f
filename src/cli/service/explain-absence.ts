import { readConfigFile } from "../../adapters/config-file.ts";
import { checkPortFree } from "../../adapters/port-holder.ts";
import { Failure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import type { ServiceManager, ServiceState } from "../../service/service-manager.ts";
import { attempt } from "../attempt.ts";
import { configInUse } from "../config-in-use.ts";
import { diagnose } from "./diagnose.ts";
import { replaceCommand } from "./other-program.ts";

const START = "start it with: tollkeeper service start";

/** Returns the service manager. Where there is none although a daemon runs, the Failure says what to type about that daemon. */
export async function requireServiceManager(): Promise<ServiceManager> {
  const { value: manager, failure } = await attempt(Failure, () => findServiceManager());
  if (failure === null) return manager;
  throw await explainNoManager(failure);
}

/** Returns the failure to find a service manager; where a daemon runs, with what to type about that. */
export async function explainNoManager(failure: Failure): Promise<Failure> {
  const running = await daemonStatus().catch(() => null);
  if (running === null) return failure;
  return new Failure(
    `${failure.message}, but tollkeeper is running: it was started by hand, pid ${running.pid}`,
    `to restart it, type: ${replaceCommand(running, null)}; to see what it is doing, type: tollkeeper status`,
  );
}

/** Returns the status of the running daemon. Throws a Failure that says why none runs, and what to type. */
export async function requireDaemon(): Promise<DaemonStatus> {
  const status = await daemonStatus();
  if (status === null) throw await explainAbsence();
  return status;
}

/**
 * Returns why no daemon responds, and what to type: what keeps its service from running, or another program on its port, which may be a
 * tollkeeper that is not reached from this environment. Starts nothing.
 */
export async function explainAbsence(): Promise<Failure> {
  const { value: manager, failure: noManager } = await attempt(Failure, () => findServiceManager());
  const state = await manager?.state();
  if (manager !== null && state?.isInstalled === true) {
    const failure = await explainService(manager, state);
    if (failure !== null) return failure;
  }
  // A configuration that is not valid names no port; 0 is any.
  const reading = await readConfigFile(configInUse());
  const port = reading.ok ? reading.config.listen.port : 0;
  const taken = port === 0 ? null : await checkPortFree(port);
  if (taken !== null) return taken;
  if (state?.isInstalled === true)
    return new Failure("tollkeeper is not running: its service is stopped", START);
  // In a session that does not reach the user's systemd, a daemon that does run would not be found either.
  const hint =
    noManager === null
      ? "start it with: tollkeeper service install; or in the foreground: tollkeeper serve"
      : noManager.hint;
  return new Failure("tollkeeper is not running", hint);
}

/** Returns null for a service that is stopped, and nothing more. */
async function explainService(manager: ServiceManager, state: ServiceState): Promise<Failure | null> {
  const { isRunning, holdsPort, port, pid, detail } = state;
  if (isRunning) {
    const message = `the service is running, pid ${pid}, but does not respond on its control socket`;
    return new Failure(
      message,
      "if the socket was deleted, the daemon recreates it within seconds; then try again with: tollkeeper status",
    );
  }
  const diagnosis = await diagnose(manager, state);
  if (diagnosis !== null) {
    return new Failure(`tollkeeper is not running (${detail}): ${diagnosis.message}`, diagnosis.fix);
  }
  if (!holdsPort) return null;
  const message = `tollkeeper is not running: ${manager.name} starts it at the first connection to port ${port}`;
  return new Failure(message, START);
}

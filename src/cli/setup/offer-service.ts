import { Failure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import type { ServiceManager, ServiceState } from "../../service/service-manager.ts";
import { attempt } from "../attempt.ts";
import { installService } from "../service/install.ts";
import { stopService } from "../service/stop.ts";
import { confirm } from "../terminal/confirm.ts";
import { EXIT, note, printFailure } from "../terminal/console.ts";
import type { SetupOptions } from "./options.ts";
import type { Progress } from "./progress.ts";
import { fixOf } from "../../adapters/system-fix.ts";

/** Whether the daemon runs as a service; `failed` when it was requested and could not be installed. */
export type ServiceOutcome = "runs" | "declined" | "failed";

/** Offers to run tollkeeper as a service. A failure is printed, and sets exit code 1. */
export async function offerService(
  file: string,
  options: SetupOptions,
  progress: Progress,
): Promise<ServiceOutcome> {
  const { value: manager, failure } = await attempt(Failure, () => findServiceManager());
  if (failure !== null) return reportMissing(failure, options, progress);
  if (await isRunning(manager, file, options)) {
    progress.add("service", "already running; starts at login");
    return "runs";
  }
  const question = "Run tollkeeper in the background, now and after each login?";
  if (!(options.service ?? (!options.yes && (await confirm(question, true))))) {
    progress.add("service", "none; start tollkeeper in a terminal with: tollkeeper serve");
    return "declined";
  }
  const { failure: problem } = await attempt(Failure, async () => {
    if (!options.yes) await offerToStop(await manager.state());
    await installService(file, false);
  });
  if (problem === null)
    progress.add("service", "running; starts at login; see its log with: tollkeeper service logs");
  else fail(problem, progress);
  return problem === null ? "runs" : "failed";
}

/** A service that is asked for is installed again, which brings it up to date. */
async function isRunning(manager: ServiceManager, file: string, { service }: SetupOptions): Promise<boolean> {
  if (service === true) return false;
  const state = await manager.state();
  return state.isRunning && state.isEnabled && state.configFile === file;
}

/** A daemon that was started by hand, for a first try, holds the port. */
async function offerToStop({ pid }: ServiceState): Promise<void> {
  const daemon = await daemonStatus();
  if (daemon === null || daemon.pid === pid) return;
  const question = `tollkeeper is already running, started by hand (pid ${daemon.pid}). Stop it first?`;
  if (await confirm(question, true)) await stopService(false);
}

function reportMissing(failure: Failure, { service }: SetupOptions, progress: Progress): ServiceOutcome {
  if (service === true) {
    fail(failure, progress);
    return "failed";
  }
  note(`The background service is not available: ${failure.message}.`);
  progress.add(
    "service",
    `none: ${failure.message}; ${fixOf(failure) ?? "type: tollkeeper service install"}`,
  );
  return "declined";
}

function fail(failure: Failure, progress: Progress): void {
  printFailure(failure);
  process.exitCode = EXIT.failed;
  progress.add("service", "failed; fix the error above, then type: tollkeeper service install");
}

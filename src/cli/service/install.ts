import { resolve } from "node:path";
import { configPath } from "../../adapters/paths.ts";
import { refuseExposed } from "../../adapters/trust/exposure.ts";
import type { Config } from "../../core/config/config.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import { describeSteps } from "../../service/describe-steps.ts";
import type { ServiceManager, ServiceState, ServiceTarget } from "../../service/service-manager.ts";
import { loadConfig } from "../load-config.ts";
import { note, print } from "../terminal/console.ts";
import { refuseConflicts } from "./conflicts.ts";
import { requireServiceManager } from "./explain-absence.ts";
import { executePlan, executeStartPlan, printNotes, printRestart } from "./execute-plan.ts";
import { describeOtherProgram } from "./other-program.ts";
import { buildServiceTarget } from "./service-target.ts";

/**
 * Installs this program as a service and starts it, or, with `dryRun`, shows the steps.
 * @param configFile from the command line; undefined for the one that the service was installed with, or the default
 */
export async function installService(configFile: string | undefined, dryRun: boolean): Promise<void> {
  const manager = await requireServiceManager();
  const state = await manager.state();
  const path = chooseConfigFile(configFile, state);
  const config = await loadConfig(path);
  const { target, risks } = buildServiceTarget(config, path);
  for (const program of [target.node, target.script])
    await refuseExposed(program, `${program}, which the service runs`);
  for (const risk of risks) note(`warning: ${risk}`);
  if (dryRun) await preview(manager, state, target);
  else printSummary(await install(manager, state, target), config);
}

function chooseConfigFile(named: string | undefined, { configFile: installed }: ServiceState): string {
  if (named !== undefined) return resolve(named);
  if (installed === null || installed === configPath()) return configPath();
  print(
    `using the configuration that the service was installed with: ${installed} (to use another, add: --config FILE)`,
  );
  return installed;
}

async function preview(manager: ServiceManager, { pid }: ServiceState, target: ServiceTarget): Promise<void> {
  const plan = await manager.install(target);
  await executePlan(plan, true);
  const running = await daemonStatus().catch(() => null);
  const difference = running?.pid === pid ? describeOtherProgram(running) : null;
  if (difference !== null) {
    print(`${difference}; unless the steps above restart it, these follow:`);
    for (const line of describeSteps((await manager.restart()).steps)) print(`    ${line}`);
  }
  printNotes(plan);
}

async function install(
  manager: ServiceManager,
  state: ServiceState,
  target: ServiceTarget,
): Promise<DaemonStatus> {
  const { port } = target;
  const running = await refuseConflicts(state, port, "tollkeeper service install");
  const plan = await manager.install(target);
  // A daemon that runs but does not respond has to be restarted even when its definition has not changed.
  const restart = state.isRunning && running === null ? (await manager.restart()).steps : [];
  let status = await executeStartPlan(manager, { ...plan, steps: [...plan.steps, ...restart] }, port);
  // After an upgrade the definition may be the same.
  const difference = describeOtherProgram(status);
  if (difference !== null) {
    print(`${difference}; restarting it`);
    printRestart(status, await manager.state());
    status = await executeStartPlan(manager, await manager.restart(), port);
  }
  printNotes(plan);
  return status;
}

function printSummary({ pid, listening }: DaemonStatus, { upstreams }: Config): void {
  print(`tollkeeper is running as a service (pid ${pid}) and listens on ${listening.join(" and ")}`);
  print("to see its log, type: tollkeeper service logs");
  print(
    Object.keys(upstreams).length > 0
      ? "to see its status, type: tollkeeper status"
      : "the built-in sandbox responds; to use a real service, type: tollkeeper setup",
  );
}

import { resolve } from "node:path";
import type { Config } from "../../core/config/config.ts";
import { describeSteps } from "../../service/describe-steps.ts";
import type { ServiceManager, ServiceState, ServiceTarget } from "../../service/service-manager.ts";
import { note, print } from "../terminal/console.ts";
import { daemonStatus } from "../../daemon/client.ts";
import { loadConfig } from "../keys/target.ts";
import { configPath } from "../../adapters/paths.ts";
import { programVersion } from "../../adapters/program.ts";
import { openServiceManager } from "./open-manager.ts";
import { carryOut, startByPlan, tellNotes } from "./plan.ts";
import { refuseConflicts } from "./conflicts.ts";
import { serviceTarget } from "./target.ts";
import type { DaemonStatus } from "../commands/status/report.ts";

/**
 * Makes this installation a service that runs, or, with `dryRun`, shows what that would take.
 * @param configFile as the command line names it; undefined for the one that it was installed with, or the default one
 */
export async function installService(configFile: string | undefined, dryRun: boolean): Promise<void> {
  const manager = await openServiceManager();
  const state = await manager.state();
  const path = chooseConfigFile(configFile, state);
  const config = await loadConfig(path);
  const { target, risks } = serviceTarget(config, path);
  for (const risk of risks) note(`warning: ${risk}`);
  if (dryRun) await show(manager, state, target);
  else tellWhereItRuns(await install(manager, state, target), config);
}

function chooseConfigFile(named: string | undefined, { configFile: installed }: ServiceState): string {
  if (named !== undefined) return resolve(named);
  if (installed === null || installed === configPath()) return configPath();
  print(`the configuration is the one that it was installed with: ${installed} (another one: --config FILE)`);
  return installed;
}

async function show(manager: ServiceManager, { pid }: ServiceState, target: ServiceTarget): Promise<void> {
  const plan = await manager.install(target);
  await carryOut(plan, true);
  const running = await daemonStatus().catch(() => null);
  if (running?.pid === pid && isOfOtherVersion(running)) {
    print(`if version ${running.version} still runs then (this is ${programVersion()}):`);
    for (const line of describeSteps((await manager.restart()).steps)) print(`    ${line}`);
  }
  tellNotes(plan);
}

async function install(
  manager: ServiceManager,
  state: ServiceState,
  target: ServiceTarget,
): Promise<DaemonStatus> {
  const { port } = target;
  const running = await refuseConflicts(state, port, "tollkeeper service install");
  const plan = await manager.install(target);
  // It hangs, and nothing in its definition may have changed.
  const restart = state.isRunning && running === null ? (await manager.restart()).steps : [];
  let status = await startByPlan(manager, { ...plan, steps: [...plan.steps, ...restart] }, port);
  // After an upgrade nothing in the definition has changed, and the daemon that runs is yesterday's.
  if (isOfOtherVersion(status)) {
    print(`the daemon that runs is of version ${status.version}; this is ${programVersion()}`);
    status = await startByPlan(manager, await manager.restart(), port);
  }
  tellNotes(plan);
  return status;
}

function isOfOtherVersion({ version }: DaemonStatus): boolean {
  return version !== programVersion();
}

function tellWhereItRuns({ pid, listening }: DaemonStatus, { upstreams }: Config): void {
  print(`tollkeeper runs as a service (pid ${pid}) and listens on ${listening.join(" and ")}`);
  print("its log: tollkeeper service logs");
  print(
    Object.keys(upstreams).length > 0
      ? "see how it is with: tollkeeper status"
      : "the built-in sandbox answers; name your upstream with: tollkeeper config edit; then: tollkeeper key set",
  );
}

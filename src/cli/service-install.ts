import type { Config } from "../core/config.ts";
import type { Plan, ServiceManager } from "../service/service-manager.ts";
import { note, print } from "./console.ts";
import { loadConfig } from "./key-target.ts";
import { programVersion } from "./program.ts";
import { openServiceManager } from "./service-manager.ts";
import { carryOut, startByPlan, tellNotes } from "./service-plan.ts";
import { refuseRivals } from "./service-rivals.ts";
import { serviceTarget } from "./service-target.ts";

/** Makes this installation a service that runs, or, with `dryRun`, shows what that would take. */
export async function installService(configFile: string | undefined, dryRun: boolean): Promise<void> {
  const config = await loadConfig(configFile);
  const manager = await openServiceManager();
  const { target, risks } = serviceTarget(config, configFile);
  for (const risk of risks) note(`warning: ${risk}`);
  if (!dryRun) await refuseRivals(await manager.state(), target.port, "tollkeeper service install");
  const plan = await manager.install(target);
  if (dryRun) await carryOut(plan, true);
  else await start(manager, plan, config);
  tellNotes(plan);
}

async function start(manager: ServiceManager, plan: Plan, config: Config): Promise<void> {
  const { port } = config.listen;
  let status = await startByPlan(manager, plan, port);
  // After an upgrade nothing in the definition has changed, and the daemon that runs is yesterday's.
  if (status.version !== programVersion()) {
    print(`the daemon that runs is of version ${status.version}; this is ${programVersion()}`);
    status = await startByPlan(manager, await manager.restart(), port);
  }
  const { pid, listening } = status;
  print(`tollkeeper runs as a service (pid ${pid}) and listens on ${listening.join(" and ")}`);
  print("its log: tollkeeper service logs");
  const hasUpstream = Object.keys(config.upstreams).length > 0;
  print(
    hasUpstream
      ? "see how it is with: tollkeeper status"
      : "the built-in sandbox answers; name your upstream with: tollkeeper config edit; then: tollkeeper key set",
  );
}

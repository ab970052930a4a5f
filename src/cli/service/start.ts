import { configPath } from "../../adapters/paths.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import { loadConfig } from "../load-config.ts";
import { print } from "../terminal/console.ts";
import { refuseConflicts } from "./conflicts.ts";
import { executePlan, executeStartPlan, printOpenExchanges } from "./execute-plan.ts";

/**
 * Starts or restarts the installed service, or, with `dryRun`, shows the steps. Loads the configuration first, because a
 * daemon does not start with an invalid one.
 */
export async function startService(
  verb: "start" | "restart",
  configFile: string | undefined,
  dryRun: boolean,
): Promise<void> {
  const manager = await findServiceManager();
  const state = await manager.state();
  const { port } = (await loadConfig(configFile ?? state.configFile ?? configPath())).listen;
  const running = dryRun ? null : await refuseConflicts(state, port, `tollkeeper service ${verb}`);
  const plan = await manager[verb]();
  if (dryRun) return executePlan(plan, true);
  if (verb === "restart" && running !== null) printOpenExchanges(running);
  const { pid, listening } = await executeStartPlan(manager, plan, port);
  print(`tollkeeper runs (pid ${pid}) and listens on ${listening.join(" and ")}`);
}

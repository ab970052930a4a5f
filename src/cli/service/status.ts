import { readConfigFile } from "../../adapters/config-file.ts";
import { configPath } from "../../adapters/paths.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import { EXIT, print } from "../terminal/console.ts";
import { findFailureCause } from "./failure-cause.ts";
import { buildServiceReport, renderServiceReport } from "./report.ts";

/** Prints the service's state as text or JSON. Sets exit code 1 unless the service is running. */
export async function showServiceStatus(configFile: string | undefined, json: boolean): Promise<void> {
  const manager = await findServiceManager();
  const state = await manager.state();
  const reading = await readConfigFile(configFile ?? state.configFile ?? configPath());
  const cause = await findFailureCause(manager, state);
  const report = buildServiceReport(manager.name, state, reading.ok ? reading.config : null, cause);
  if (json) print(JSON.stringify(report, null, 2));
  else for (const line of renderServiceReport(report)) print(line);
  if (!json && report.isRunning) print("what the daemon does: tollkeeper status");
  if (!report.isRunning) process.exitCode = EXIT.failed;
}

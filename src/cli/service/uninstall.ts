import { existsSync } from "node:fs";
import { readConfigFile } from "../../adapters/config-file.ts";
import { print } from "../terminal/console.ts";
import { configPath, ledgerDirectory, stateDirectory } from "../../adapters/paths.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import { executePlan, printNotes } from "./execute-plan.ts";

/** Removes the service, or, with `dryRun`, shows the steps. Prints where configuration and ledger remain. */
export async function uninstallService(configFile: string | undefined, dryRun: boolean): Promise<void> {
  const manager = await findServiceManager();
  const path = configFile ?? (await manager.state()).configFile ?? configPath();
  const plan = await manager.uninstall();
  await executePlan(plan, dryRun);
  printNotes(plan);
  const reading = await readConfigFile(path);
  const ledger = reading.ok ? ledgerDirectory(reading.config) : stateDirectory();
  if (existsSync(path)) print(`the configuration stays: ${path}`);
  if (existsSync(ledger)) print(`the ledger stays: ${ledger}`);
}

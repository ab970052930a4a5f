import { existsSync } from "node:fs";
import { readConfigFile } from "../../adapters/config-file.ts";
import { print } from "../terminal/console.ts";
import { configPath, ledgerDirectory, stateDirectory } from "../../adapters/paths.ts";
import { openServiceManager } from "./open-manager.ts";
import { carryOut, tellNotes } from "./plan.ts";

/** Takes the service away, or, with `dryRun`, shows what that would take; says where configuration and ledger stay. */
export async function uninstallService(configFile: string | undefined, dryRun: boolean): Promise<void> {
  const manager = await openServiceManager();
  const path = configFile ?? (await manager.state()).configFile ?? configPath();
  const plan = await manager.uninstall();
  await carryOut(plan, dryRun);
  tellNotes(plan);
  const reading = await readConfigFile(path);
  const ledger = reading.ok ? ledgerDirectory(reading.config) : stateDirectory();
  if (existsSync(path)) print(`the configuration stays: ${path}`);
  if (existsSync(ledger)) print(`the ledger stays: ${ledger}`);
}

import { readConfigFile } from "../../adapters/config-file.ts";
import { configPath, ledgerDirectory } from "../../adapters/paths.ts";
import { defaultConfig } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { resolveConfigPath } from "../load-config.ts";
import { confirm, isInteractive } from "../terminal/confirm.ts";
import { EXIT, note, print, printFailure } from "../terminal/console.ts";
import { labelledLine, pluralize } from "../terminal/format.ts";
import {
  findConfiguration,
  findConnectedTools,
  findLedger,
  findTokens,
  tidyDirectories,
} from "./find-files.ts";
import { findStoredKeys } from "./find-keys.ts";
import { findService } from "./find-service.ts";
import type { Removal } from "./removal.ts";

/** Arguments of `tollkeeper uninstall`. */
interface UninstallOptions {
  config?: string | undefined;
  /** Remove the usage records, too, which cannot be recovered. */
  ledger: boolean;
  yes: boolean;
}

const PROGRAM = "To remove the program itself, type: npm uninstall -g tollkeeper";

/**
 * `tollkeeper uninstall`: shows what of tollkeeper is on this machine, asks once, and removes it: first what uses it, last
 * what the rest depends on. Continues after a failure, and then sets exit code 1.
 */
export async function uninstall({ config, ledger, yes }: UninstallOptions): Promise<void> {
  const { removals, kept } = await findAll(config, ledger);
  if (removals.length === 0) print("There is nothing to remove.");
  else {
    show("This will be removed:", removals);
    if (!(await isConfirmed(yes))) return print("Nothing was changed.");
    await removeEach(removals);
  }
  for (const { what, byHand } of kept)
    print(`The usage records are kept: ${what}. To remove them, type: ${byHand}`);
  print(PROGRAM);
}

/** Finds everything, in the order in which it is removed. */
async function findAll(
  configFile: string | undefined,
  isLedgerIncluded: boolean,
): Promise<{ removals: Removal[]; kept: Removal[] }> {
  const service = await findService();
  const path =
    configFile === undefined ? (service.configFile ?? configPath()) : resolveConfigPath(configFile);
  const reading = await readConfigFile(path);
  const config = reading.ok ? reading.config : null;
  const ledger = findLedger(ledgerDirectory(config ?? defaultConfig));
  const removals = [
    ...service.removals,
    ...(await findConnectedTools()),
    ...findTokens(),
    ...(await findStoredKeys(config)),
    ...(isLedgerIncluded ? ledger : []),
    ...findConfiguration(path),
  ];
  return { removals, kept: isLedgerIncluded ? [] : ledger };
}

function show(heading: string, removals: readonly Removal[]): void {
  print(heading);
  for (const { label, what, effect } of removals)
    print(`  ${labelledLine(label, effect === undefined ? what : `${what}; ${effect}`)}`);
}

async function isConfirmed(yes: boolean): Promise<boolean> {
  if (yes) return true;
  if (!isInteractive())
    throw new Failure(
      "there is no terminal to ask on, so nothing was changed",
      "to remove everything without asking, type: tollkeeper uninstall --yes",
    );
  return confirm("Remove all of this? Stored keys cannot be recovered.");
}

async function removeEach(removals: readonly Removal[]): Promise<void> {
  let failed = 0;
  for (const { label, what, done, byHand, remove } of removals) {
    try {
      await remove();
      print(done === undefined ? `removed: ${label} ${what}` : `${label} ${what}: ${done}`);
    } catch (error) {
      failed += 1;
      printFailure(error);
      note(`not removed: ${label} ${what}; by hand: ${byHand}`);
    }
  }
  tidyDirectories();
  if (failed === 0) return;
  process.exitCode = EXIT.failed;
  note(`${pluralize(failed, "item")} could not be removed; to try again, type: tollkeeper uninstall`);
}

import { dirname, resolve } from "node:path";
import {
  connectionsDirectory,
  ledgerDirectory,
  runtimeDirectory,
  stateDirectory,
} from "../../../adapters/paths.ts";
import { findExposure } from "../../../adapters/trust/exposure.ts";
import { failure, ok, type Check, type Finding } from "../../../check/check.ts";
import type { Evidence } from "../evidence.ts";

/**
 * Checks that no other user can change what the daemon runs and relies on, or put something else in its place (SECURITY.md E8). The
 * configuration and the sources of keys are checked with what else may be wrong with them.
 */
export const exposedFilesCheck: Check<Evidence> = {
  id: "exposed-files",
  title: "file access",
  async run(evidence) {
    const config = await evidence.config();
    const { state } = await evidence.service();
    const extra = evidence.env["NODE_EXTRA_CA_CERTS"] ?? "";
    const socket = config?.listen.socket ?? null;
    const places: [path: string, name: string][] = [
      [process.execPath, "the Node that runs tollkeeper"],
      [resolve(process.argv[1] ?? ""), "the program"],
      ...(state?.files ?? []).map((path): [string, string] => [path, "what the service runs"]),
      [stateDirectory(), "the directory of tollkeeper's state"],
      [connectionsDirectory(), "what connect keeps to restore your tools' settings"],
      [runtimeDirectory(), "the directory of the control socket"],
      ...(config === null ? [] : [[ledgerDirectory(config), LEDGER] as [string, string]]),
      ...(socket === null ? [] : [[dirname(socket), 'the directory of "listen.socket"'] as [string, string]]),
      ...(extra === "" ? [] : [[extra, "the certificates of NODE_EXTRA_CA_CERTS"] as [string, string]]),
    ];
    const findings = (await Promise.all(places.map(([path, name]) => findingFor(path, name)))).flat();
    // One directory may lead to several of them.
    const distinct = findings.filter(({ fix }, at) => findings.findIndex((one) => one.fix === fix) === at);
    return distinct.length > 0 ? distinct : [ok("no other user can change the program or its files")];
  },
};

const LEDGER = "the ledger directory";

async function findingFor(path: string, name: string): Promise<Finding[]> {
  const exposure = await findExposure(path);
  // The ledger's check reports on its directory itself.
  if (exposure === null || (name === LEDGER && exposure.place === path)) return [];
  return [failure(exposure.describe(`${name}, ${path}`), exposure.command)];
}

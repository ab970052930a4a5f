import { failure, runCheck, type Check, type CheckedFinding, type RunOptions } from "../../check/check.ts";
import { baseUrlsCheck } from "./checks/base-urls.ts";
import { bridgeCheck } from "./checks/bridge.ts";
import { clockCheck } from "./checks/clock.ts";
import { closedFoldersCheck } from "./checks/closed-folders.ts";
import { configurationCheck } from "./checks/configuration.ts";
import { daemonCheck } from "./checks/daemon.ts";
import { exposedFilesCheck } from "./checks/exposed-files.ts";
import { exportCheck } from "./checks/export.ts";
import { keychainCheck } from "./checks/keychain.ts";
import { keysCheck } from "./checks/keys.ts";
import { ledgerCheck } from "./checks/ledger.ts";
import { leftoverKeysCheck } from "./checks/leftover-keys.ts";
import { nodeCheck } from "./checks/node.ts";
import { otherUsersCheck } from "./checks/other-users.ts";
import { portCheck } from "./checks/port.ts";
import { proxiesCheck } from "./checks/proxies.ts";
import { serviceCheck } from "./checks/service.ts";
import { statusLineCheck } from "./checks/status-line.ts";
import { toolsCheck } from "./checks/tools.ts";
import { upstreamsCheck } from "./checks/upstreams.ts";
import { usageCheck } from "./checks/usage.ts";
import { versionCheck } from "./checks/version.ts";
import type { Evidence } from "./evidence.ts";

/** Everything that `doctor` checks, in the order shown: what other checks depend on comes first. */
export const CHECKS: readonly Check<Evidence>[] = [
  versionCheck,
  nodeCheck,
  configurationCheck,
  keychainCheck,
  keysCheck,
  upstreamsCheck,
  daemonCheck,
  portCheck,
  serviceCheck,
  closedFoldersCheck,
  otherUsersCheck,
  exposedFilesCheck,
  ledgerCheck,
  exportCheck,
  clockCheck,
  leftoverKeysCheck,
  baseUrlsCheck,
  proxiesCheck,
  toolsCheck,
  statusLineCheck,
  usageCheck,
];

/** What `doctor` checks where tollkeeper runs elsewhere: in a container, or on a host that was reached by ssh. */
export const CHECKS_AWAY: readonly Check<Evidence>[] = [
  nodeCheck,
  bridgeCheck,
  leftoverKeysCheck,
  baseUrlsCheck,
  proxiesCheck,
  toolsCheck,
  statusLineCheck,
];

/** More than the waits of one check can add up to: ten seconds for an upstream, five for a keychain. */
const LIMIT_MS = 60_000;

const RUN_OPTIONS: RunOptions = {
  limitMs: LIMIT_MS,
  timeoutMessage: `timed out after ${LIMIT_MS / 1000} seconds`,
  findingOf: (message) => failure(`could not be checked: ${message}`, "try again with: tollkeeper doctor"),
};

/** Runs all checks concurrently and returns their findings in the order of the checks, keys redacted. Never rejects. */
export async function runChecks(
  checks: readonly Check<Evidence>[],
  evidence: Evidence,
): Promise<CheckedFinding[]> {
  const found = await Promise.all(checks.map((check) => runCheck(check, evidence, RUN_OPTIONS)));
  const redact = await createRedactor(evidence);
  return found.flat().map(({ message, fix, ...rest }) => {
    return { ...rest, message: redact(message), fix: fix === null ? null : redact(fix) };
  });
}

/** Checks print no key themselves, but quote others: an upstream's error, or the last output of a key command. */
async function createRedactor(evidence: Evidence): Promise<(text: string) => string> {
  const keys = await evidence.keys().catch(() => []);
  return (text) => keys.reduce((redacted, { secret }) => secret?.redactText(redacted) ?? redacted, text);
}

import { failure, type Check, type CheckedFinding } from "../../check/check.ts";
import { runCheck, type RunOptions } from "../../check/run-check.ts";
import type { Evidence } from "./evidence.ts";

/** More than the waits of one check can add up to: ten seconds for an upstream, five for a keychain. */
const LIMIT_MS = 60_000;

const OPTIONS: RunOptions = {
  limitMs: LIMIT_MS,
  timeoutMessage: `no end within ${LIMIT_MS / 1000} seconds`,
  findingOf: (message) => failure(`could not be checked: ${message}`, "try again: tollkeeper doctor"),
};

/** Runs all checks concurrently and returns their findings in the order of the checks, keys redacted. Never rejects. */
export async function runChecks(
  checks: readonly Check<Evidence>[],
  evidence: Evidence,
): Promise<CheckedFinding[]> {
  const found = await Promise.all(checks.map((check) => runCheck(check, evidence, OPTIONS)));
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

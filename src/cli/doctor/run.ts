import type { Evidence } from "./evidence.ts";
import { failure, type Check, type Finding } from "./finding.ts";
import { messageOf } from "../../core/thrown.ts";

/** What one check found, one thing; as `--json` prints it. */
export interface CheckedFinding extends Finding {
  id: string;
  title: string;
}

/** Longer than all that a check waits for may take together: ten seconds for an upstream, five for a keychain. */
const LIMIT_MS = 60_000;

/** Runs every check at the same time and gives what they found in their order. Never rejects: a check that throws has failed. */
export async function runChecks(checks: readonly Check[], evidence: Evidence): Promise<CheckedFinding[]> {
  const found = await Promise.all(checks.map((check) => runCheck(check, evidence)));
  const hide = await hiderOf(evidence);
  return found.flat().map(({ message, fix, ...rest }) => {
    return { ...rest, message: hide(message), fix: fix === null ? null : hide(fix) };
  });
}

async function runCheck({ id, title, look }: Check, evidence: Evidence): Promise<CheckedFinding[]> {
  const named = (finding: Finding): CheckedFinding => ({ id, title, ...finding });
  try {
    return (await inTime(look(evidence))).map(named);
  } catch (error) {
    const why = messageOf(error);
    return [named(failure(`could not be checked: ${why}`, "try again: tollkeeper doctor"))];
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${LIMIT_MS / 1000} seconds`)), LIMIT_MS);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** No check tells a key; this is for what others say, an upstream's error or a key command's last words. */
async function hiderOf(evidence: Evidence): Promise<(text: string) => string> {
  const keys = await evidence.keys().catch(() => []);
  return (text) => keys.reduce((hidden, { secret }) => secret?.redactText(hidden) ?? hidden, text);
}

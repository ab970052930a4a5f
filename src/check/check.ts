import { messageOf } from "../core/failure.ts";

/** How a finding is rated. `skipped`: it could not be checked, or there was nothing to check. */
export type Verdict = "ok" | "warning" | "failure" | "skipped";

/** One thing that a check found. */
export interface Finding {
  verdict: Verdict;
  /** Lower case, no full stop. Never contains a key or part of one. */
  message: string;
  /** The one command or edit that fixes it; null when there is nothing to fix. */
  fix: string | null;
}

/** A finding with the check that made it, as `doctor --json` prints it. */
export interface CheckedFinding extends Finding {
  id: string;
  title: string;
}

/** One check of a subject, which it never changes. */
export interface Check<Subject> {
  /** Stays the same from version to version, for scripts. */
  id: string;
  title: string;
  /** Returns at least one finding, or throws; `runCheck` turns what it throws into a finding. */
  run(subject: Subject): Promise<Finding[]>;
}

export function ok(message: string): Finding {
  return { verdict: "ok", message, fix: null };
}

/** For something that works, but not as it should, or not for much longer. */
export function warning(message: string, fix: string): Finding {
  return { verdict: "warning", message, fix };
}

export function failure(message: string, fix: string): Finding {
  return { verdict: "failure", message, fix };
}

export function skipped(message: string): Finding {
  return { verdict: "skipped", message, fix: null };
}

/** What {@link runCheck} does with a check that does not complete. */
export interface RunOptions {
  limitMs: number;
  timeoutMessage: string;
  /** Returns the finding for a check that threw this message, or exceeded the limit. */
  findingOf(errorMessage: string): Finding;
}

/** Runs one check. Never rejects. */
export async function runCheck<Subject>(
  check: Check<Subject>,
  subject: Subject,
  { limitMs, timeoutMessage, findingOf }: RunOptions,
): Promise<CheckedFinding[]> {
  const { id, title } = check;
  const findings = await withTimeout(async () => check.run(subject), limitMs, timeoutMessage).catch(
    (error: unknown) => [findingOf(messageOf(error))],
  );
  return findings.map((finding) => ({ id, title, ...finding }));
}

async function withTimeout<T>(work: () => Promise<T>, limitMs: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(message)), limitMs);
  });
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

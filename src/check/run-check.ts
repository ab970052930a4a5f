import { messageOf } from "../core/thrown.ts";
import type { Check, CheckedFinding, Finding } from "./check.ts";

/** What becomes of a check that does not complete. */
export interface RunOptions {
  /** Time limit for the check, milliseconds. */
  limitMs: number;
  /** Error message of a check that exceeds the limit. */
  timeoutMessage: string;
  /** Returns the finding for a check that threw this message or exceeded the limit. */
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

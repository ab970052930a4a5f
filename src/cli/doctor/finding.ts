import type { Evidence } from "./evidence.ts";

/** How something was found; `skipped`: it could not be looked at, or there was nothing to look at. */
export type Verdict = "ok" | "warning" | "failure" | "skipped";

/** One thing that a check found. */
export interface Finding {
  verdict: Verdict;
  /** Lower case, no full stop. Never holds a key, nor a part of one. */
  message: string;
  /** The one command, or edit, that mends it; null when there is nothing to mend. */
  fix: string | null;
}

/** One thing that `doctor` looks at. Changes nothing; what it throws is told as a failure of its own. */
export interface Check {
  /** Stays the same from version to version, for scripts. */
  id: string;
  title: string;
  /** At least one finding. */
  look(evidence: Evidence): Promise<Finding[]>;
}

export function ok(message: string): Finding {
  return { verdict: "ok", message, fix: null };
}

/** Works, but not as it should, or not for long. */
export function warning(message: string, fix: string): Finding {
  return { verdict: "warning", message, fix };
}

export function failure(message: string, fix: string): Finding {
  return { verdict: "failure", message, fix };
}

export function skipped(message: string): Finding {
  return { verdict: "skipped", message, fix: null };
}

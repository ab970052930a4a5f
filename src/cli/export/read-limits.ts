import { limitsPath } from "../../adapters/paths.ts";
import { readStateFile } from "../../adapters/state-file.ts";
import { describeLimits, parseLimits, type AccountStatus } from "../../core/limits/account-limits.ts";

/** Reads what the daemon has saved of the limits of services, at most five minutes ago. Nothing where that cannot be read. */
export function readLimits(now: number): AccountStatus[] {
  try {
    return describeLimits(parseLimits(readStateFile(limitsPath()) ?? "") ?? new Map(), now);
  } catch {
    // The daemon says so in its log, and replaces the file.
    return [];
  }
}

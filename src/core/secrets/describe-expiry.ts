import { describeTime } from "../budget/describe-time.ts";
import type { Calendar } from "../ledger/calendar.ts";
import { formatAge } from "../text/age.ts";

/** Says when a key expires or has expired: `expires at 16:40`, `expired 3 min ago`. Times in milliseconds since 1970. */
export function describeExpiry(expiresAt: number, now: number, calendar: Calendar): string {
  if (expiresAt > now) return `expires ${describeTime(expiresAt, now, calendar)}`;
  return `expired ${formatAge(expiresAt, now)}`;
}

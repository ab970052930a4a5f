import { describeTime } from "../budget/describe-time.ts";
import type { Calendar } from "../ledger/calendar.ts";
import { formatAge } from "../text/age.ts";
import type { WindowStatus } from "./account-limits.ts";
import { describeWindow, RETRY } from "./limit-names.ts";

/** Says what is known of a window: `62% of the 5-hour window, from the answer 3 min ago, resets at 16:40`. `now` in ms since 1970. */
export function describeLimit(status: WindowStatus, now: number, calendar: Calendar): string {
  const { window, state, usedPercent, limit, remaining } = status;
  const what = describeWindow(window);
  const at = status.resetsAt === null ? null : describeTime(Date.parse(status.resetsAt), now, calendar);
  const from = `from the answer ${formatAge(Date.parse(status.seenAt), now)}`;
  if (window === RETRY) {
    const wait = at === null ? "" : ` until ${until(at)}`;
    return `the service asked to wait${wait}${state === "reset" ? ", which is over" : ""}, ${from}`;
  }
  if (state === "reset") return `${what}: reset ${at}, not seen since`;
  const counts =
    limit === null || remaining === null ? "" : ` (${format(remaining)} of ${format(limit)} left)`;
  const resets = at === null ? "" : `, resets ${at}`;
  return `${format(usedPercent ?? 0)}% of ${what}${counts}, ${from}${resets}`;
}

function until(at: string): string {
  return at.replace(/^(?:at|on) /, "");
}

function format(number: number): string {
  return new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 }).format(number);
}

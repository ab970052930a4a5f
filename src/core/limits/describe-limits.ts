import { describeTime } from "../budget/describe-time.ts";
import type { Calendar } from "../ledger/calendar.ts";
import { formatAge } from "../text/age.ts";
import type { AccountStatus, WindowStatus } from "./account-limits.ts";
import { describeWindow, RETRY } from "./limit-names.ts";
import { describeScope } from "../policy/pauses.ts";
import type { LimitHold } from "./keep.ts";
import type { LimitWarning } from "./limit-warnings.ts";

/** Says what is known of a window: `62% of the 5-hour window, from the answer 3 min ago, resets at 16:40`. `now` in ms since 1970. */
export function describeLimit(status: WindowStatus, now: number, calendar: Calendar): string {
  const { window, state } = status;
  const at = status.resetsAt === null ? null : describeTime(Date.parse(status.resetsAt), now, calendar);
  const from = `from the answer ${formatAge(Date.parse(status.seenAt), now)}`;
  if (window === RETRY) {
    const wait = at === null ? "" : ` until ${until(at)}`;
    return `the service asked to wait${wait}${state === "reset" ? ", which is over" : ""}, ${from}`;
  }
  if (state === "reset") return `${describeWindow(window)}: reset ${at}, not seen since`;
  const resets = at === null ? "" : `, resets ${at}`;
  return `${describeUse(status)}, ${from}${resets}`;
}

/** Says that much of a limit is used: `default has used 82% of the 5-hour window; it resets at 16:40`. `now` in ms since 1970. */
export function describeLimitWarning(
  account: string,
  { window, says }: LimitWarning,
  now: number,
  calendar: Calendar,
): string {
  const at = window.resetsAt === null ? null : describeTime(window.resetsAt, now, calendar);
  if (window.window === RETRY) {
    const wait = at === null ? "" : ` and asked to wait until ${until(at)}`;
    return `the service refused a request of ${account}${wait}`;
  }
  const service =
    says === null ? "" : says === "warns" ? "the service warns: " : "the service refuses requests: ";
  const resets = at === null ? "" : `; it resets ${at}`;
  return `${service}${account} has used ${describeUse(window)}${resets}`;
}

/**
 * Says what a brake keeps back: `nightly waits until 16:40: 4% of the 5-hour window of default is left, and its brake keeps 10%`. `now` in ms
 * since 1970.
 */
export function describeHold(hold: LimitHold, now: number, calendar: Calendar): string {
  const { keep, account, window, leftPercent, resetsAt } = hold;
  const at = until(describeTime(Date.parse(resetsAt), now, calendar));
  const left = `${format(leftPercent)}% of ${describeWindow(window)} of ${account}`;
  return `${describeScope(hold)} waits until ${at}: ${left} is left, and its brake keeps ${keep}%`;
}

function describeUse({
  window,
  usedPercent,
  limit,
  remaining,
}: Pick<WindowStatus, "window" | "usedPercent" | "limit" | "remaining">): string {
  const counts =
    limit === null || remaining === null ? "" : ` (${format(remaining)} of ${format(limit)} left)`;
  return `${format(usedPercent ?? 0)}% of ${describeWindow(window)}${counts}`;
}

/** As many as a line has room for. */
const MOST_WINDOWS = 3;

/** A window that has not reset, and of which the service said how much is used. */
export type UsedWindow = WindowStatus & { usedPercent: number };

function isUsed(status: WindowStatus): status is UsedWindow {
  return status.state === "seen" && status.usedPercent !== null;
}

/** Says in few words how much is used of each account's windows, the fullest first: `anthropic 5h 62%, 7d 31% · work/ci requests 3%`. */
export function summariseLimits(accounts: readonly AccountStatus[]): string {
  return usedWindows(accounts, MOST_WINDOWS)
    .map(({ account, windows }) => `${account} ${windows.map(summariseWindow).join(", ")}`)
    .join(" · ");
}

/** Returns the accounts of which it is known how much is used, each with its fullest windows, `most` at most. */
export function usedWindows(
  accounts: readonly AccountStatus[],
  most: number,
): { account: string; windows: UsedWindow[] }[] {
  return accounts.flatMap(({ account, windows }) => {
    const used = windows.filter(isUsed).slice(0, most);
    return used.length === 0 ? [] : [{ account, windows: used }];
  });
}

/** Returns the window of all accounts of which most is used; null where none is known. */
export function fullestWindow(accounts: readonly AccountStatus[]): UsedWindow | null {
  const used = accounts.flatMap(({ windows }) => windows.filter(isUsed));
  return used.toSorted((one, other) => other.usedPercent - one.usedPercent)[0] ?? null;
}

/** Names a window and how much of it is used: `5h 62%`. */
export function summariseWindow({ window, usedPercent }: UsedWindow): string {
  return `${window} ${format(usedPercent)}%`;
}

function until(at: string): string {
  return at.replace(/^(?:at|on) /, "");
}

function format(number: number): string {
  return new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 }).format(number);
}

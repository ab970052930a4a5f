import { describeWindow, RETRY } from "../../../../core/limits/limit-names.ts";
import type { Limits, Status } from "../feed-types.ts";
import { describeMovers } from "../health/movers.ts";
import { formatNear, formatShare } from "../numbers.ts";
import type { Meter } from "./meter.ts";

/** Services warn from here on, too. */
const FULL_SOON = 80;

/**
 * Returns the meters of the limits that services have reported, the fullest first within an account.
 * @param moved - who used each window; null while that is not known
 */
export function limitMeters(
  { limits, holds }: Pick<Status, "limits" | "holds">,
  moved: Limits | null = null,
): Meter[] {
  return limits.flatMap(({ account, windows }) =>
    windows.flatMap((window) => {
      const { used_percent: percent, state, resets_at: resets, seen_at: seen } = window;
      if (window.window === RETRY || percent === null || state === "reset") return [];
      const name = `${nameAccount(account, limits)}, ${describeWindow(window.window).replace(/^the /, "")}`;
      const used = `${formatShare(percent, 100)} used`;
      const isFullSoon = percent >= FULL_SOON;
      return {
        name,
        wholeName: `${account}, ${describeWindow(window.window)}`,
        percent,
        assumed: 0,
        used,
        tone: isFullSoon ? "warning" : "",
        isRefusing: false,
        next: `${resets === null ? "As" : `Resets ${formatNear(resets)}, as`} of ${formatNear(seen)}`,
        alarms: [],
        finding: isFullSoon ? `${name}: ${used}` : "",
        assumptions: [],
        more: holds
          .filter((hold) => hold.account === account && hold.window === window.window)
          .map(describeHold),
        movers: moversOf(account, window.window, moved),
      };
    }),
  );
}

function moversOf(account: string, window: string, moved: Limits | null): string {
  const windows = moved?.accounts.find((one) => one.account === account)?.windows;
  const movedBy = windows?.find((one) => one.window === window)?.moved_by ?? null;
  return movedBy === null ? "" : describeMovers(movedBy);
}

/** Says that a brake keeps what is left of the window, and how to let requests pass. */
function describeHold({ kind, name, keep, lift }: Status["holds"][number]): string {
  const whom = kind === "tool" ? name : `Group ${name}`;
  return `${whom} waits until the reset, as its brake keeps ${keep}%. To let it pass, type: ${lift}`;
}

/** Names an account for people: `plan:claude/3f2a91c0` is `Claude plan`, with its id only where there are two of that plan. */
function nameAccount(account: string, all: readonly { account: string }[]): string {
  return account.replace(
    /^(plan:(.)([^/]*))\/?(.*)$/,
    (_, plan: string, first: string, rest: string, id: string) => {
      const isOnly = all.filter((one) => one.account.startsWith(plan)).length === 1;
      return `${first.toUpperCase()}${rest} plan${isOnly ? "" : ` ${id}`}`;
    },
  );
}

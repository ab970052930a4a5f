import { describeTime } from "../budget/describe-time.ts";
import { formatConfigPath } from "../config/problem.ts";
import type { Calendar } from "../ledger/calendar.ts";
import { describeWindow } from "../limits/limit-names.ts";
import type { LowWindow } from "../limits/low-window.ts";
import type { Brake } from "../policy/brake.ts";
import { describeScope } from "../policy/pauses.ts";
import { formatCommand } from "../text/shell-words.ts";
import type { Refusal } from "./refusal.ts";

/**
 * Returns the refusal of a request for which a brake keeps a share of a window. It is a throttle, as the service sends one when nothing is
 * left: 429 with `retry-after`, in whole seconds until the window resets. Times in milliseconds since 1970.
 */
export function refuseToKeep(
  brake: Brake,
  account: string,
  { window, leftPercent, resetsAt }: LowWindow,
  now: number,
  calendar: Calendar,
): Refusal {
  const { scope, terms } = brake;
  const path = formatConfigPath([scope.kind === "tool" ? "tools" : "groups", scope.name, "brake", "keep"]);
  const waitSeconds = Math.max(1, Math.ceil((resetsAt - now) / 1_000));
  return {
    code: "limit_kept",
    problem: `${describeScope(scope)} waits for ${describeWindow(window)} of ${account}`,
    reason: `${leftPercent}% of it is left, by the last response, and ${path} keeps ${terms.keep}%`,
    advice: `it resets ${describeTime(resetsAt, now, calendar)}`,
    waitSeconds,
    headers: ["retry-after", String(waitSeconds)],
    command: liftCommand(brake),
  };
}

/** Returns the command that lets pass what a brake keeps back: it removes a brake that does nothing else. */
export function liftCommand({ scope: { kind, name }, terms }: Brake): string {
  const { requestsPerMinute, concurrent, same } = terms;
  if (requestsPerMinute !== null || concurrent !== null || same !== null) return "tollkeeper config edit";
  return formatCommand(["tollkeeper", "brake", "remove", ...(kind === "tool" ? [name] : ["--group", name])]);
}

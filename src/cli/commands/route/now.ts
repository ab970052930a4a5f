import { Failure } from "../../../core/failure.ts";
import type { RoutedRequest } from "../../../core/decide/explain.ts";
import type { RefusalCode } from "../../../core/refusals/refusal.ts";
import type { DecisionNow } from "../../../daemon/control/answer-shapes.ts";
import { askRunning } from "../../../daemon/running-daemon.ts";
import { attempt } from "../../attempt.ts";

/** What may change from one request to the next, and not with the configuration. */
const PASSING: ReadonlySet<string> = new Set<RefusalCode>([
  "paused",
  "braked",
  "limit_kept",
  "budget_spent",
  "budget_unknown",
  "plan_throttled",
]);

/**
 * Asks the daemon whether a pause, a brake or a budget would refuse the request now. Resolves with null if not, without a daemon, and if
 * that has another configuration.
 * @param account the account of a plan, for a request at the address of the plan; null for the address of a key
 */
export async function askForRefusal(
  configFile: string,
  { tool, api, model }: RoutedRequest,
  account: string | null,
): Promise<DecisionNow["refusal"]> {
  const query = { ...(tool !== null && { tool }), api, model, ...(account !== null && { account }) };
  const { value: now } = await attempt(Failure, () => askRunning("decide", query));
  // A daemon of an earlier version answers for the address of a key.
  if (now?.config !== configFile || (now.account ?? null) !== account) return null;
  const { refusal } = now;
  return refusal !== null && PASSING.has(refusal.code) ? refusal : null;
}

/** Says what the daemon would refuse at this moment, why, and what to type. */
export function describeRefusal(refusal: NonNullable<DecisionNow["refusal"]>): string {
  const { problem, reason, advice } = refusal;
  const why = [reason, advice].filter((part) => part !== undefined).join("; ");
  return `At this moment tollkeeper would refuse it: ${problem}${why === "" ? "" : `: ${why}`}\nTo change that, type: ${refusal.command}`;
}

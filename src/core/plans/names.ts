/** The tools whose own login with a plan may pass (docs/plans.md). */
export const PLAN_TOOLS = ["claude-code", "codex"] as const;

/** Follows the tool's mark in the path of a base URL: `/t/codex/plan`. */
export const PLAN_SEGMENT = "/plan";

/** How the upstream of a plan begins in records. No configured upstream can have such a name, because of the colon. */
const PREFIX = "plan:";

/** Returns the name of a plan's upstream in records. */
export function planUpstream(service: string): string {
  return `${PREFIX}${service}`;
}

/**
 * Returns who paid for the request of a record, by its upstream and key: `key`, also where nothing was charged, or the account of a plan, such
 * as `plan:claude/3f2a91c0`. `plan` where the record does not tell which.
 */
export function accountOf(upstream: string, key: string): string {
  if (!isPlanUpstream(upstream)) return "key";
  return key.startsWith(`${upstream}/`) ? key : "plan";
}

/** True for the name of an account of a plan, of which it is not always known which one it is. */
export function isOfPlan(account: string, plan: string): boolean {
  return account === plan || account.startsWith(`${plan}/`);
}

/** True for the upstream of a record whose request a plan paid, not a key. */
export function isPlanUpstream(upstream: string): boolean {
  return upstream.startsWith(PREFIX);
}

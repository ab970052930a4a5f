/** The tools whose own login with a plan may pass (docs/plans.md). */
export const PLAN_TOOLS = ["claude-code", "codex"] as const;

/** Follows the tool's mark in the path of a base URL: `/t/codex/plan`. */
export const PLAN_SEGMENT = "/plan";

/** How the upstream of a plan begins in records. No configured upstream can have such a name, because of the colon. */
const PREFIX = "plan:";

/** How the upstream begins in records where the service charges for use beyond the plan. */
const EXTRA_PREFIX = "extra:";
/** How an upstream that passes the own keys of tools begins in records. */
const OWN_PREFIX = "own:";

/** Returns the name in records of an upstream that passes the own keys of tools (docs/upstreams.md). */
function ownUpstream(upstream: string): string {
  return `${OWN_PREFIX}${upstream}`;
}

/** True for the upstream of a record whose request a key of the tool's own paid, not one of ours. */
export function isOwnUpstream(upstream: string): boolean {
  return upstream.startsWith(OWN_PREFIX);
}

/** True for the upstream of a record whose request the tool paid itself: with its plan, or with a key of its own. */
export function isPaidByTool(upstream: string): boolean {
  const payer = payerOf(upstream);
  return payer === "plan" || payer === "own";
}

/** Returns the name in records of an upstream of the configuration. */
export function recordedName({ name, credential }: { name: string; credential: "key" | "client" }): string {
  return credential === "client" ? ownUpstream(name) : name;
}

/** Returns the name that the configuration has for the upstream of a record. */
export function configuredName(upstream: string): string {
  return isOwnUpstream(upstream) ? upstream.slice(OWN_PREFIX.length) : upstream;
}

/** Returns the name of a plan's upstream in records. */
export function planUpstream(service: string): string {
  return `${PREFIX}${service}`;
}

/**
 * Returns who paid for the request of a record, by its upstream and key: `key`, also where nothing was charged, or the account of a plan, such
 * as `plan:claude/3f2a91c0`, `extra:claude/3f2a91c0` for extra use, or `own:openai/3f2a91c0` for a tool's own key.
 * `plan`, `extra` or `own` where the record does not tell which.
 */
export function accountOf(upstream: string, key: string): string {
  const payer = payerOf(upstream);
  return payer !== "key" && key.startsWith(`${upstream}/`) ? key : payer;
}

/** Returns what kind of account paid for the request of a record: `extra` where the service of a plan charges for it, `own` for a tool's own key. */
export function payerOf(upstream: string): "key" | "plan" | "extra" | "own" {
  if (isOwnUpstream(upstream)) return "own";
  if (isPlanUpstream(upstream)) return "plan";
  return isExtraUpstream(upstream) ? "extra" : "key";
}

/** Returns the name of a plan, or of an account of it, for what the service charges as extra use. */
export function asExtra(name: string): string {
  return name.startsWith(PREFIX) ? EXTRA_PREFIX + name.slice(PREFIX.length) : name;
}

/** True for the name of an account of a plan, of which it is not always known which one it is. */
export function isOfPlan(account: string, plan: string): boolean {
  return account === plan || account.startsWith(`${plan}/`);
}

/** True for the upstream of a record whose request a plan paid, not a key. */
export function isPlanUpstream(upstream: string): boolean {
  return upstream.startsWith(PREFIX);
}

/** True for the upstream of a record whose request the service of a plan charges, as use beyond the plan. */
export function isExtraUpstream(upstream: string): boolean {
  return upstream.startsWith(EXTRA_PREFIX);
}

/** True for the upstream of a record whose request had the tool's own login with a plan, whoever paid. */
export function hasPlanLogin(upstream: string): boolean {
  return isPlanUpstream(upstream) || isExtraUpstream(upstream);
}

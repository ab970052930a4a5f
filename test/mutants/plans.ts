import type { Mutant } from "./mutant.ts";

const C15 = { row: "C15", test: "test/security/c15-plans.test.ts" };
const WORTH = { row: "prices", test: "test/core/price/plans.test.ts" };
const PLANS_FILE = "src/core/plans/plans.ts";
const DECIDE = "src/core/decide/decide.ts";
const JUDGE_PLANNED = "src/core/decide/plans.ts";
const BOOK = "src/core/price/price-book.ts";

/** Rules that keep plan and key apart. */
export const PLANS: readonly Mutant[] = [
  {
    ...C15,
    without: "keeping a plan's login from an upstream that takes a key",
    file: "src/core/decide/resolve-route.ts",
    find: 'const plan = below === null ? null : (plans.get(mark ?? "") ?? null);\n  if (below !== null && plan === null)',
    replace: 'const plan = null as PlanDestination | null;\n  if (below !== null && !plans.has(mark ?? ""))',
  },
  {
    ...C15,
    without: "keeping a key from a plan's origin",
    file: JUDGE_PLANNED,
    find: "return fault === null ? null : notOwnLogin(plan, fault);",
    replace: "return fault === null || fault !== '' ? null : notOwnLogin(plan, fault);",
  },
  {
    ...C15,
    without: "refusing both on one request",
    file: PLANS_FILE,
    find: "if (key !== undefined) return `the request has a key, in ${key}`;",
    replace: "",
  },
  {
    ...C15,
    without: "telling an API key from the login of Claude",
    file: PLANS_FILE,
    find: "/^Bearer +(sk-ant-oat[\\w-]{8,})$/i.exec",
    replace: "/^Bearer +(sk-ant-[\\w-]{8,})$/i.exec",
  },
  {
    ...C15,
    without: "wanting the account beside a token of ChatGPT",
    file: PLANS_FILE,
    find: 'return signed ?? (headers.has("chatgpt-account-id") ? token : null) ?? null;',
    replace: "return signed ?? token ?? null;",
  },
  {
    ...C15,
    without: "plans that are off until they are listed",
    file: "src/core/decide/settings.ts",
    find: "PLANS.filter(({ tool }) => plans.includes(tool))",
    replace: "PLANS.filter(({ tool }) => plans.includes(tool) || tool !== null)",
  },
  {
    ...C15,
    without: "refusing programs of other users",
    file: JUDGE_PLANNED,
    find: "if (!client.peer.isOwn || isUnderListedName(headers, rules)) return PLAN_NOT_LOCAL;",
    replace: "if (isUnderListedName(headers, rules)) return PLAN_NOT_LOCAL;",
  },
  {
    ...C15,
    without: "refusing another tool's token",
    file: JUDGE_PLANNED,
    find: "if (client.tool !== plan.tool) return otherToolsPlan(plan, client.tool);",
    replace: "",
  },
  {
    ...C15,
    without: "connections for each login",
    file: "src/proxy/sender.ts",
    find: "choice.plan === null ? pools.at(origin) : pools.forLogin(origin, request.headers)",
    replace: "pools.at(origin)",
  },
  {
    ...C15,
    without: "refusing paths that a service could read as others",
    file: "src/core/plans/plan-paths.ts",
    find: '|| path.endsWith("/") || AMBIGUOUS.test(path)) return null;',
    replace: ") return null;",
  },
  {
    ...C15,
    without: "passing the betas of a login",
    file: "src/core/http/forwarded-headers.ts",
    find: "else if (isSentUpstream || PLAN_HEADERS.includes(name)) out.push(rawName, value);",
    replace:
      'else if (isSentUpstream || PLAN_HEADERS.includes(name)) out.push(rawName, name === "anthropic-beta" ? removeOauthBeta(value) : value);',
  },
  {
    ...C15,
    without: "searching errors for the login",
    file: "src/proxy/gate.ts",
    find: 'if (choice.plan !== null) return new Secret(choice.plan.findLogin(headers) ?? "");',
    replace: 'if (choice.plan !== null) return new Secret("");',
  },
  {
    ...C15,
    without: "throttling a plan",
    file: DECIDE,
    find: "return refusal === null || choice.plan === null ? refusal : asThrottle(refusal);",
    replace:
      "return refusal === null || choice.plan === null || refusal !== null ? refusal : asThrottle(refusal);",
  },
  {
    ...C15,
    without: "refusing a plan's login where a key would pay",
    file: DECIDE,
    find: "return other === null ? null : keyWouldPay(other);",
    replace: "return other === null || other !== null ? null : keyWouldPay(other);",
  },
  {
    ...WORTH,
    without: "leaving out of the cost what a plan paid",
    file: BOOK,
    find: "return upstream === SANDBOX_UPSTREAM || isPlanUpstream(upstream);",
    replace: "return upstream === SANDBOX_UPSTREAM;",
  },
  {
    ...WORTH,
    without: "a sum of its own for what plans paid",
    file: "src/core/price/spending.ts",
    find: "if (isPlanUpstream(charge.terms.upstream)) {",
    replace: 'if (charge.terms.upstream === "") {',
  },
  {
    ...WORTH,
    without: "letting a plan's requests go when a budget in money is spent",
    file: "src/core/budget/book.ts",
    find: 'if ("usd" in limit && isPlanUpstream(upstream)) return true;',
    replace: "",
  },
];

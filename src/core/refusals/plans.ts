import { PLAN_TOOLS } from "../plans/names.ts";
import type { Plan } from "../plans/plans.ts";
import type { Refusal } from "./refusal.ts";

/** The refusal of a path below `/t/TOOL/plan` of a tool whose plan may not pass. */
export function noPlan(tool: string): Refusal {
  const isKnown = PLAN_TOOLS.some((one) => one === tool);
  return {
    code: "plan_off",
    problem: isKnown ? `plans are off for ${tool}` : "this tool has no plan that may pass",
    reason: isKnown
      ? `"plans" does not list it`
      : `only ${PLAN_TOOLS.join(" and ")} have a path for their own login`,
    command: isKnown ? connectTo(tool, "plan") : "tollkeeper connect --list",
  };
}

/** The refusal of a request that does not have the tool's own login and nothing else. It is never replaced by a key. */
export function notOwnLogin({ tool, login }: Plan, fault: string): Refusal {
  return {
    code: "plan_login",
    problem: `this path takes only the own login of ${tool}`,
    reason: fault,
    advice: `the login is ${login}; for a key, type: ${connectTo(tool, "key")}`,
    command: `tollkeeper doctor`,
  };
}

/** The command with which `connect` writes the address of an account. */
function connectTo(tool: string, account: "key" | "plan"): string {
  return `tollkeeper connect ${tool} --account ${account}`;
}

/** The refusal of a login with a plan where a key would pay: people might notice only by the bill. */
export function keyWouldPay({ tool, basePath }: Plan): Refusal {
  return {
    code: "plan_login",
    problem: `a key would pay for what ${tool} asks with the login of its plan`,
    reason: "this address is for a key",
    advice: `to have the key pay, type: ${connectTo(tool, "key")}; the address of the plan ends in /t/${tool}${basePath}; "planLogins": "strip" lets the key pay at any address`,
    command: connectTo(tool, "plan"),
  };
}

/** The refusal of a plan's request that comes from elsewhere than a program of the daemon's user on this machine. */
export const PLAN_NOT_LOCAL: Refusal = {
  code: "plan_login",
  problem: "a plan is for your own programs on this machine",
  reason: "the request came for another host name, from another user or over the Unix socket",
  command: "tollkeeper doctor",
};

/** The refusal of a plan's request from a client that shows another tool's token. */
export function otherToolsPlan({ tool }: Plan, client: string): Refusal {
  return {
    code: "plan_login",
    problem: `this path takes only the own login of ${tool}`,
    reason: `the request is of ${client}`,
    command: "tollkeeper connect --list",
  };
}

/** What a tool waits where it is not known when the next may go. */
const USUAL_WAIT_SECONDS = 60;

/** Turns the refusal of a budget or a brake into the throttle that tools with a plan know: 429 with `retry-after`, in whole seconds. */
export function asThrottle(refusal: Refusal): Refusal {
  const seconds = Math.max(1, Math.ceil(refusal.waitSeconds ?? USUAL_WAIT_SECONDS));
  return { ...refusal, code: "plan_throttled", headers: ["retry-after", String(seconds)] };
}

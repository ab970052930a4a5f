import type { Settings } from "../decide/settings.ts";
import type { Calendar } from "../ledger/calendar.ts";
import { isOfPlan } from "../plans/names.ts";
import type { Brake } from "../policy/brake.ts";
import { listToolsOf } from "../policy/tool-access.ts";
import { liftCommand, refuseToKeep } from "../refusals/keep.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { nameAccount } from "./account-limits.ts";
import { findLow, type Windows } from "./low-window.ts";

/** A brake that refuses requests at this moment, because an account that could pay for them has too little left. `resetsAt` is ISO 8601, UTC. */
export interface LimitHold {
  kind: "tool" | "group";
  name: string;
  /** The share that the brake keeps, in percent. */
  keep: number;
  /** The command that lets the requests pass. */
  lift: string;
  account: string;
  window: string;
  leftPercent: number;
  resetsAt: string;
}

/** Returns the refusal of a request that an account with these windows would pay; null for one that may go. */
export function judgeKeep(
  brakes: readonly Brake[],
  account: string,
  windows: Windows | undefined,
  now: number,
  calendar: Calendar,
): Refusal | null {
  const held = brakes.flatMap((brake) => {
    const low = brake.terms.keep === null ? null : findLow(windows, brake.terms.keep, now);
    return low === null ? [] : [{ brake, low }];
  });
  const [last] = held.toSorted((one, other) => other.low.resetsAt - one.low.resetsAt);
  return last === undefined ? null : refuseToKeep(last.brake, account, last.low, now, calendar);
}

/** True where a brake asks what is left. */
export function keepsAny(brakes: readonly Brake[]): boolean {
  return brakes.some(({ terms }) => terms.keep !== null);
}

/** Lists the brakes that refuse requests now, with each account that has too little left. */
export function listHolds(settings: Settings, seen: ReadonlyMap<string, Windows>, now: number): LimitHold[] {
  const { tools, groups } = settings.config;
  const owners = [
    ...Object.entries(tools).map(([name, { brake }]) => ({ kind: "tool" as const, name, brake, of: [name] })),
    ...Object.entries(groups).map(([name, { brake }]) => {
      return { kind: "group" as const, name, brake, of: listToolsOf(settings.config, name) };
    }),
  ];
  return owners.flatMap(({ kind, name, brake, of }) => {
    if (brake?.keep == null) return [];
    const { keep } = brake;
    const lift = liftCommand({ scope: { kind, name }, terms: brake });
    const accounts = new Set(of.flatMap((tool) => accountsOf(settings, tool, seen)));
    return [...accounts].flatMap((account) => {
      const low = findLow(seen.get(account), keep, now);
      const hold = { kind, name, keep, lift, account };
      return low === null ? [] : [{ ...hold, ...low, resetsAt: new Date(low.resetsAt).toISOString() }];
    });
  });
}

/** The accounts that may pay for a tool's requests. Which of its plan's there are is known from responses. */
function accountsOf(settings: Settings, tool: string, seen: ReadonlyMap<string, Windows>): string[] {
  const plan = settings.plans.get(tool);
  const ofPlan = [...seen.keys()].filter(
    (account) => plan !== undefined && isOfPlan(account, plan.plan.name),
  );
  return [...settings.destinationsFor(tool).map(nameAccount), ...ofPlan];
}

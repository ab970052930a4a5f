import { Failure } from "../../../core/failure.ts";
import type { Config } from "../../../core/config/config.ts";
import { localCalendar } from "../../../core/ledger/calendar.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { describeHold } from "../../../core/limits/describe-limits.ts";
import type { LimitHold } from "../../../core/limits/keep.ts";
import { isOfPlan } from "../../../core/plans/names.ts";
import { PLANS } from "../../../core/plans/plans.ts";
import { groupOfTool } from "../../../core/policy/tool-access.ts";
import type { Answers } from "../../../daemon/control/answer-shapes.ts";
import { askRunning } from "../../../daemon/running-daemon.ts";
import { attempt } from "../../attempt.ts";

/** The address at which the plan of a tool pays, and what brakes keep back of it. */
export interface PlanAddress {
  /** The plan's account; only the plan where it is not known which one it would be. */
  account: string;
  /** The service to which all requests at this address go. */
  baseUrl: string;
  /** The brakes that refuse the tool's requests at this moment. */
  holds: LimitHold[];
}

/**
 * Returns the address of the plan that may pass for a tool; null where none may.
 * @param record the request that is asked about, whose account is meant; null for any
 */
export async function findPlanAddress(
  config: Config,
  tool: string | null,
  record: Pick<UsageRecord, "upstream" | "key"> | null,
): Promise<PlanAddress | null> {
  const plan = PLANS.find((one) => one.tool === tool && config.plans.includes(one.tool));
  if (plan === undefined) return null;
  const { name, baseUrl } = plan;
  const account = record?.upstream === name && isOfPlan(record.key, name) ? record.key : name;
  const { value: limits } = await attempt(Failure, () => askRunning("limits"));
  // A daemon of an earlier version sends none.
  const { holds = [] }: Partial<Answers["limits"]> = limits ?? {};
  const group = groupOfTool(config, plan.tool)?.name;
  const isMeant = (hold: LimitHold) =>
    isOfPlan(hold.account, account) && hold.name === (hold.kind === "tool" ? plan.tool : group);
  return { account, baseUrl, holds: holds.filter(isMeant) };
}

/** Says which brakes keep back what is left of the plan, in sentences with what to type. */
export function describeHolds({ holds }: PlanAddress): string[] {
  return holds.map(
    (hold) =>
      `At the address of its plan, ${describeHold(hold, Date.now(), localCalendar())}\nTo let it pass, type: ${hold.lift}`,
  );
}

import { CERTAINTY, CUTTERS, USUAL_REFUSALS } from "../../../../core/ledger/explain/record-words.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { classify } from "../../../../core/ledger/spend.ts";
import { isOfUpstream } from "../../../../core/refusals/of-upstream.ts";
import type { Cost, Status } from "../feed-types.ts";
import { budgetMeters } from "../meters/budget-meters.ts";
import { isRefusing, priceHint } from "../meters/budget-words.ts";
import { nameClass } from "./class-words.ts";

/** Says why a request ended as it did, and what about its figures is not certain, in sentences; none where there is nothing to explain. */
export function reasonsOf(record: UsageRecord): string[] {
  const { tool, status, usage, outcome, cut_by: by, error_type: type } = record;
  const isFree = hasFailed(record);
  const charged = isFree ? " Nothing was charged." : "";
  if (outcome === "rejected") {
    const who = isOfUpstream(type) ? "No response came from the service" : "tollkeeper refused the request";
    return [`${who}${because(type ?? "")}.${charged}`];
  }
  return [
    ...(outcome === "error"
      ? [`${faultOf(record)}.${charged}${canRetry(status) ? ` ${tool} may try again.` : ""}`]
      : []),
    ...(outcome === "cut"
      ? [`The response was ended early by ${by === null ? "the connection" : CUTTERS[by]}.`]
      : []),
    ...(isFree || usage === "final" || usage === "none" ? [] : [CERTAINTY[usage]]),
  ];
}

/** Says why a cost is not known, or may be more than is shown; none where it is certain, and where the tokens are why. */
export function reasonsForCost(
  { amount_usd: amount, is_lower_bound: isBound, lines, missing }: Cost,
  { usage, flags }: Pick<UsageRecord, "usage" | "flags">,
): string[] {
  const start = amount === null ? "No cost is known" : "It may have cost more";
  const names = [...new Set(missing.map(nameMissing))];
  if (names.length > 0) {
    const command = missing.flatMap(({ model }) => (model === null ? [] : priceHint(model)))[0];
    const sentence = `${start}, because ${names.join(" and ")} ${names.length === 1 ? "has" : "have"} no price`;
    return [[sentence, ...(command === undefined ? [] : [command])].join(". ")];
  }
  if (!isBound || usage !== "final") return [];
  if (lines.some((line) => line.class === "cache_write_ttl_unknown"))
    return [`${start}, because the service does not say how long it caches what was written.`];
  return flags.includes("extra_cut_short")
    ? [`${start}, because the response had more parts than a record has room for.`]
    : [];
}

function nameMissing({ model, what }: Cost["missing"][number]): string {
  const name = model ?? "a model without a name";
  return what === "model" ? name : `“${nameClass(what)}” of ${name}`;
}

/** True for a request that nothing was charged for, because it failed or was refused. */
export function hasFailed(record: UsageRecord): boolean {
  return classify(record) === "failed";
}

/** Says why there was a refusal, after a comma; empty for a code that says it itself. */
export function because(code: string): string {
  return Object.hasOwn(USUAL_REFUSALS, code)
    ? `, because ${USUAL_REFUSALS[code as keyof typeof USUAL_REFUSALS]}`
    : "";
}

function faultOf({ status, error_type: type }: UsageRecord): string {
  const number = status === null ? "" : ` (${status})`;
  if (status === 529 || type === "overloaded_error") return `The service was overloaded${number}`;
  if (status === 429) return "A limit of the service was reached (429)";
  if (status === 401 || status === 403) return `The service did not accept the key${number}`;
  if (status === 404) return "The service does not have what was requested (404)";
  if (status !== null && status < 500) return `The service did not accept the request${number}`;
  return `The service failed${number}`;
}

/** Tools do so where waiting may help. */
function canRetry(status: number | null): boolean {
  return status === 429 || (status ?? 0) >= 500;
}

/** Says how the budgets of a request's tool, key and project, and of all, are now. A record does not say which group its tool was in. */
export function budgetsNow({ tool, key, project }: UsageRecord, status: Status): string[] {
  const { lifts } = status;
  const names = { tool, key, project, group: null };
  const own = status.budgets.filter(
    ({ scope, action }) => action === "refuse" && (scope.kind === "all" || scope.name === names[scope.kind]),
  );
  const spent = own.filter((budget) => isRefusing(budget, lifts));
  const meters = budgetMeters({ budgets: spent.length > 0 ? spent : own, lifts });
  if (spent.length === 0) {
    const all = meters.map(({ name, used }) => `${name}: ${used}`).join("; ");
    return all === "" ? [] : [`Its budgets now: ${all}.`];
  }
  return meters.map(({ name, used, next, assumptions, more }) =>
    [`${name}, now: ${used}`, next, ...assumptions, ...more].join(". "),
  );
}

import { NO_SIZE } from "../budget/budget-request.ts";
import { isUnderListedName } from "../http/admission.ts";
import { findLoginFault, type Plan } from "../plans/plans.ts";
import { mustNameModel, type ToolPolicy } from "../policy/tool-policy.ts";
import { unreadableModel } from "../refusals/models.ts";
import { notOwnLogin, otherToolsPlan, PLAN_NOT_LOCAL } from "../refusals/plans.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { isRefusedUnread, sizeUp } from "./choose.ts";
import { choosePlan } from "./choose-upstream.ts";
import {
  refuse,
  type AskedRequest,
  type BodyFacts,
  type Chosen,
  type Need,
  type Refused,
} from "./decision.ts";
import { findDecodable, findFault, findFaultOfCopy } from "./readable-body.ts";
import type { ApiRequest } from "./resolve-route.ts";
import type { PlanDestination, Settings } from "./settings.ts";

/** Chooses the service of a plan: the path has said which one. The body decides nothing but whether the request may leave. */
export function choosePlanned(
  asked: AskedRequest,
  request: ApiRequest,
  destination: PlanDestination,
  body: BodyFacts,
  policy: ToolPolicy | null,
  settings: Settings,
): Chosen | Refused | Need {
  const { headers, client } = asked;
  const { plan } = destination;
  const known = { choice: choosePlan(request, destination), model: null, alias: null, isBound: false };
  const refusal = client.refusal ?? judgePlanned(plan, asked, settings);
  if (refusal !== null) return refuse(refusal, { ...known, policy, size: NO_SIZE, fingerprint: null });
  const allowed = mustNameModel(request.match.route) ? (policy?.models ?? null) : null;
  if (allowed === null || isRefusedUnread(asked, settings))
    return sizeUp(asked, request, known, body, policy, settings);
  const { reader, copy } = body;
  if (reader === null && copy === null) {
    const isDecoded = findDecodable(headers) !== null;
    const fault = isDecoded ? findFaultOfCopy(headers, request) : findFault(headers, request);
    if (fault !== null) return refuse(unreadableModel(fault), null);
    return { kind: "need", what: isDecoded ? "copy" : "model", only: allowed.patterns };
  }
  const model = copy === null ? (reader?.place?.model ?? null) : copy.model;
  const fault = copy?.fault ?? reader?.fault ?? "the body names no model";
  if (model === null) return refuse(unreadableModel(fault), null);
  // Of a copy nothing is left that could name another model.
  return sizeUp(asked, request, { ...known, model, isBound: copy === null }, body, policy, settings);
}

/** Returns the refusal of a request that may not use the plan: only the tool itself may, on this machine (docs/plans.md). */
export function judgePlanned(
  plan: Plan,
  { headers, client }: Pick<AskedRequest, "headers" | "client">,
  { rules }: Pick<Settings, "rules">,
): Refusal | null {
  if (!client.peer.isOwn || isUnderListedName(headers, rules)) return PLAN_NOT_LOCAL;
  if (client.tool !== plan.tool) return otherToolsPlan(plan, client.tool);
  const fault = findLoginFault(plan, headers);
  return fault === null ? null : notOwnLogin(plan, fault);
}

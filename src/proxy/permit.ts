import type { Refusal } from "../core/http/refusal.ts";
import type { Route } from "../core/http/routes.ts";
import { judgeModel, type ToolPolicy } from "../core/policy/tool-policy.ts";
import type { BudgetHold, Budgets } from "../ports.ts";
import type { ClientIdentity } from "./authenticate-client.ts";
import type { Chosen } from "./choose-by-model.ts";
import type { Choice } from "./choose-upstream.ts";
import type { ApiRequest } from "./resolve-route.ts";

/** A request whose upstream is chosen, as far as it is judged. */
export interface PolicedRequest {
  policy: ToolPolicy | null;
  client: ClientIdentity;
  chosen: Chosen;
}

/** What a policy says about a request. */
export interface Permission {
  /** null for a request that may go. */
  refusal: Refusal | null;
  /** What its budgets hold back for it; null where no budget is for it. */
  hold: BudgetHold | null;
}

const PERMITTED: Permission = { refusal: null, hold: null };

/** The one route on which the path names the model, where a configuration adds it. */
const MODEL_PATH = "/models/{id}";

/** Judges a request by its tool's policy, before anything of it leaves. The first judge that refuses it decides. */
export function permit(request: PolicedRequest, { match }: ApiRequest, budgets: Budgets): Permission {
  const { policy, client, chosen } = request;
  if (policy === null) return PERMITTED;
  if (policy.models !== null) {
    const asked = match.route.path === MODEL_PATH ? match.path.slice(MODEL_PATH.indexOf("{")) : chosen.model;
    const judged = { tool: client.tool, asked, model: chosen.alias ?? asked };
    const refusal = judgeModel(policy.models, judged);
    if (refusal !== null) return { refusal, hold: null };
  }
  return admitToBudgets(request, chosen.choice, budgets);
}

/** True for requests that a budget may refuse. */
export function isBudgeted(policy: ToolPolicy | null, { spend }: Route): boolean {
  return policy !== null && policy.hasBudgets && spend !== "never";
}

/** Asks the budgets for one attempt: each goes to another upstream, by another price, and maybe with another key. */
export function admitToBudgets(
  { policy, client, chosen }: PolicedRequest,
  { key, upstream, route }: Choice,
  budgets: Budgets,
): Permission {
  if (!isBudgeted(policy, route)) return PERMITTED;
  const answer = budgets.admit({
    tool: client.tool,
    project: client.peer.project,
    key: key.name,
    upstream: upstream.name,
    model: chosen.alias ?? chosen.model,
    ...chosen.size,
  });
  return "code" in answer ? { refusal: answer, hold: null } : { refusal: null, hold: answer };
}

import type { Refusal } from "../core/refusals/refusal.ts";
import { isBraked, isBudgeted, judgeModel, type ToolPolicy } from "../core/policy/tool-policy.ts";
import type { RequestHold, Budgets } from "../ports.ts";
import type { ClientIdentity } from "./authenticate-client.ts";
import type { Brakes } from "./brakes.ts";
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
  /** What it holds while it runs; null where neither a budget nor a brake is for it. */
  hold: RequestHold | null;
}

const PERMITTED: Permission = { refusal: null, hold: null };

/** The one route on which the path names the model, where a configuration adds it. */
const MODEL_PATH = "/models/{id}";

/** Who judges requests that have a policy. */
interface Judges {
  budgets: Budgets;
  brakes: Brakes;
}

/** Judges a request by its tool's policy, before anything of it leaves. The first judge that refuses it decides. */
export function permit(request: PolicedRequest, { match }: ApiRequest, judges: Judges): Permission {
  const { policy, chosen } = request;
  if (policy === null) return PERMITTED;
  const forbidden = judgeRequestedModel(policy, request, match);
  if (forbidden !== null) return { refusal: forbidden, hold: null };
  if (!isBraked(policy, match.route)) return permitAttempt(request, chosen.choice, judges);
  const braked = { brakes: policy.brakes, body: chosen.fingerprint };
  const tooFast = judges.brakes.judge(braked);
  if (tooFast !== null) return { refusal: tooFast, hold: null };
  const permission = permitAttempt(request, chosen.choice, judges);
  if (permission.refusal === null) judges.brakes.count(braked);
  return permission;
}

function judgeRequestedModel(
  { models }: ToolPolicy,
  { client, chosen }: PolicedRequest,
  { route, path }: ApiRequest["match"],
): Refusal | null {
  if (models === null) return null;
  const asked = route.path === MODEL_PATH ? path.slice(MODEL_PATH.indexOf("{")) : chosen.model;
  return judgeModel(models, { tool: client.tool, asked, model: chosen.alias ?? asked });
}

/**
 * Asks the budgets for one attempt: each goes to another upstream, by another price, and maybe with another key. Brakes judge the
 * request and none of its attempts, because the tool sent it once.
 */
export function permitAttempt(
  request: PolicedRequest,
  choice: Choice,
  { budgets, brakes }: Judges,
): Permission {
  const { policy, client, chosen } = request;
  let permission = PERMITTED;
  if (isBudgeted(policy, choice.route)) {
    const answer = budgets.admit({
      tool: client.tool,
      project: client.peer.project,
      key: choice.key.name,
      upstream: choice.upstream.name,
      model: chosen.alias ?? chosen.model,
      ...chosen.size,
    });
    if ("code" in answer) return { refusal: answer, hold: null };
    permission = { refusal: null, hold: answer };
  }
  if (policy === null || !isBraked(policy, choice.route)) return permission;
  return { refusal: null, hold: joinHolds(permission.hold, brakes.enter(policy.brakes)) };
}

function joinHolds(budgets: RequestHold | null, leaveBrakes: () => void): RequestHold {
  return {
    percent: budgets?.percent ?? null,
    release() {
      budgets?.release();
      leaveBrakes();
    },
  };
}

import type { Refusal } from "../core/http/refusal.ts";
import { judgeModel, type JudgedRequest, type ToolPolicy } from "../core/policy/tool-policy.ts";
import type { Chosen } from "./choose-by-model.ts";
import type { ApiRequest } from "./resolve-route.ts";

/** The one route on which the path names the model, where a configuration adds it. */
const MODEL_PATH = "/models/{id}";

/**
 * Judges a request by its tool's policy, before anything of it leaves. Returns the refusal of the first judge that has one; null
 * for a request that may go.
 */
export function permit(
  policy: ToolPolicy,
  tool: string,
  { match }: ApiRequest,
  { model, alias }: Chosen,
): Refusal | null {
  const asked = match.route.path === MODEL_PATH ? match.path.slice(MODEL_PATH.indexOf("{")) : model;
  const judged: JudgedRequest = { tool, asked, model: alias ?? asked };
  return judgeModel(policy, judged);
}

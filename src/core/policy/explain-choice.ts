import type { Config, Upstream } from "../config/config.ts";
import type { Api } from "../http/api.ts";
import { matchesModel } from "./model-pattern.ts";
import { allowsModel, preparePolicies } from "./tool-policy.ts";
import { servesApi, upstreamsForTool } from "./upstreams.ts";

/** Why an upstream gets a request, or does not. */
interface Verdict {
  upstream: Upstream;
  isChosen: boolean;
  /** In words, with the setting that decides. */
  reason: string;
}

/** A request as far as the choice of its upstream depends on it. */
export interface RoutedRequest {
  /** null for a tool that the configuration does not name. */
  tool: string | null;
  api: Api;
  /** The model that the upstream reads: what an alias stands for. */
  model: string;
}

/** What a tool's group says about a request; null where it says nothing. */
interface GroupVerdict {
  group: string;
  models: readonly string[];
  isAllowed: boolean;
}

/** Judges a request by the group of its tool, as `permit` does. */
export function explainGroup(config: Config, { tool, model }: RoutedRequest): GroupVerdict | null {
  const policy = preparePolicies(config)?.(tool ?? "") ?? null;
  if (policy === null || policy.models === null) return null;
  const { group, patterns } = policy.models;
  return { group, models: patterns, isAllowed: allowsModel(policy, model) };
}

/** Explains the choice of `chooseUpstream`, in the order of the file. */
export function explainChoice(config: Config, request: RoutedRequest): Verdict[] {
  const allowed = upstreamsForTool(config, request.tool ?? "");
  const group = explainGroup(config, request);
  let chosen: Upstream | null = null;
  return Object.values(config.upstreams).map((upstream) => {
    const obstacle = allowed.includes(upstream)
      ? findObstacle(upstream, request)
      : `"tools.${request.tool}.upstreams" does not name it`;
    if (obstacle !== null) return { upstream, isChosen: false, reason: obstacle };
    if (chosen !== null) return { upstream, isChosen: false, reason: explainSecond(upstream, chosen) };
    chosen = upstream;
    if (group?.isAllowed === false)
      return {
        upstream,
        isChosen: false,
        reason: `would serve it, but group ${group.group} does not allow the model`,
      };
    return { upstream, isChosen: true, reason: "the first that serves it" };
  });
}

function explainSecond({ name }: Upstream, chosen: Upstream): string {
  return chosen.fallback.includes(name)
    ? `a fallback of ${chosen.name}: asked if ${chosen.name} does nothing with the request, or is skipped after failures`
    : `would serve it, but comes after ${chosen.name}`;
}

/** Returns the setting that keeps a request from an upstream that its tool may use; null when none does. */
function findObstacle(upstream: Upstream, { api, model }: RoutedRequest): string | null {
  if (!servesApi(upstream, api)) return `"apis" has only ${upstream.apis?.join(", ")}`;
  const { models } = upstream;
  if (models === null || matchesModel(models, model)) return null;
  return models.length === 0 ? `"models" is empty` : `"models" has only ${models.join(", ")}`;
}

import type { Upstream } from "../config/config.ts";
import { SHARED_APIS, type Api } from "../http/api.ts";
import type { ListedModel } from "../http/model-list.ts";
import { matchesModel } from "./model-pattern.ts";
import { servesApi } from "../http/api.ts";

/** What an upstream lists; null when it did not say. */
export interface UpstreamModels {
  upstream: Upstream;
  models: readonly ListedModel[] | null;
}

/**
 * Merges the lists of the upstreams that a tool may use, in the order of the file. Leaves out a model whose requests would go
 * to another upstream than the one that lists it: what is listed is what works. Each id is listed once.
 * @param apis those that the client can request a model by
 */
export function mergeModels(
  lists: readonly UpstreamModels[],
  apis: readonly Api[] = SHARED_APIS,
): ListedModel[] {
  const upstreams = lists.map(({ upstream }) => upstream);
  const merged = new Map<string, ListedModel>();
  for (const { upstream, models } of lists) {
    for (const model of models ?? []) {
      if (!merged.has(model.id) && isReached(upstream, model.id, upstreams, apis))
        merged.set(model.id, model);
    }
  }
  return [...merged.values()];
}

/** True when requests of at least one of these APIs for this model go to this upstream. */
function isReached(
  upstream: Upstream,
  model: string,
  upstreams: readonly Upstream[],
  apis: readonly Api[],
): boolean {
  return apis.some((api) => {
    const serves = (one: Upstream) =>
      servesApi(one, api) && (one.models === null || matchesModel(one.models, model));
    return upstreams.find(serves) === upstream;
  });
}

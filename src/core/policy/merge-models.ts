import type { Upstream } from "../config/config.ts";
import { APIS } from "../http/api.ts";
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
 */
export function mergeModels(lists: readonly UpstreamModels[]): ListedModel[] {
  const upstreams = lists.map(({ upstream }) => upstream);
  const merged = new Map<string, ListedModel>();
  for (const { upstream, models } of lists) {
    for (const model of models ?? []) {
      if (!merged.has(model.id) && isReached(upstream, model.id, upstreams)) merged.set(model.id, model);
    }
  }
  return [...merged.values()];
}

/** True when requests of at least one API for this model go to this upstream. */
function isReached(upstream: Upstream, model: string, upstreams: readonly Upstream[]): boolean {
  return APIS.some((api) => {
    const serves = (one: Upstream) =>
      servesApi(one, api) && (one.models === null || matchesModel(one.models, model));
    return upstreams.find(serves) === upstream;
  });
}

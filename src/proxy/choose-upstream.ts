import { matchesModel } from "../core/policy/model-pattern.ts";
import type { Refusal } from "../core/http/refusal.ts";
import type { Route, RouteMatch } from "../core/http/routes.ts";
import { modelNotServed } from "./gate-refusals.ts";
import { findRoute, type ApiRequest } from "./resolve-route.ts";
import type { Destination, Destinations, Settings } from "./settings.ts";

/** Where a request goes. */
export interface Choice extends Destination {
  route: Route;
  /** Path and query at the upstream. */
  path: string;
}

/**
 * Chooses the upstream for a request: the first of those that the tool may use that has the route and, on routes whose requests
 * name a model, serves the model. Returns the refusal of a request that none of them serves.
 * @param model null until it has been read; returns null if the choice depends on it
 */
export function chooseUpstream(
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
  model: string,
): Choice | Refusal;
export function chooseUpstream(
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
  model: null,
): Choice | Refusal | null;
export function chooseUpstream(
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
  model: string | null,
): Choice | Refusal | null {
  let hasRoute = false;
  for (const destination of destinations) {
    const match = matchAt(destination.upstream.table, request, settings);
    if (match === null) continue;
    hasRoute = true;
    const { models } = destination.upstream;
    if (models === null || match.route.dialect === "none") return choose(destination, match, request);
    if (model === null) return null;
    if (matchesModel(models, model)) return choose(destination, match, request);
  }
  return hasRoute ? modelNotServed(model ?? "", destinations) : refuseRoute(request, destinations);
}

/** With one upstream, its table is the one in which the request was resolved. */
function matchAt(
  table: Settings["table"],
  { method, path, match }: ApiRequest,
  settings: Settings,
): RouteMatch | null {
  if (table === settings.table) return match;
  const found = table.find(method, path);
  return found === null || "allow" in found ? null : found;
}

function choose({ upstream, key }: Destination, match: RouteMatch, request: ApiRequest): Choice {
  const path = upstream.basePath + match.path + upstream.fixed.query.addTo(request.query);
  return { upstream, key, route: match.route, path };
}

/** The refusal of the first upstream that knows the path with another method, else that of the first. */
function refuseRoute({ method, path }: ApiRequest, destinations: Destinations): Refusal {
  const refusals = destinations.flatMap(({ upstream }) => {
    const found = findRoute(upstream.table, method, path);
    return "code" in found ? [found] : [];
  });
  const other = refusals.find(({ code }) => code === "method_not_allowed") ?? refusals[0];
  if (other === undefined) throw new Error("a route was lost");
  return other;
}

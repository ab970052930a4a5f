import type { Refusal } from "../core/http/refusal.ts";
import type { Route, RouteMatch } from "../core/http/routes.ts";
import { findRoute, type ApiRequest, type RefusedRequest } from "./resolve-route.ts";
import type { Destination, Settings } from "./settings.ts";

/** Where a request goes. */
export interface Choice extends Destination {
  route: Route;
  /** Path and query at the upstream. */
  path: string;
}

/** Chooses the upstream for a tool's request. Returns the refusal of a request that no route of that upstream serves. */
export function chooseUpstream(
  request: ApiRequest | RefusedRequest,
  tool: string,
  settings: Settings,
): Choice | Refusal {
  if (request.kind === "refusal") return request.refusal;
  const { upstream, key } = settings.destinationFor(tool);
  const match = matchAt(upstream.table, request, settings);
  if ("code" in match) return match;
  return { upstream, key, route: match.route, path: upstream.basePath + match.path + request.query };
}

/** With one upstream, its table is the one in which the request was resolved. */
function matchAt(
  table: Settings["table"],
  { method, path, match }: ApiRequest,
  settings: Settings,
): RouteMatch | Refusal {
  return table === settings.table ? match : findRoute(table, method, path);
}

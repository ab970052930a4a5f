import { GOOGLE_LIST, type Route } from "../http/routes.ts";
import type { ToolPolicy } from "../policy/tool-policy.ts";
import { matchAt } from "./choose-upstream.ts";
import type { ApiRequest } from "./resolve-route.ts";
import type { Destinations, Settings } from "./settings.ts";

/** True for the lists of models: the one that several APIs share, and Google's. */
export function isList({ method, path }: Route): boolean {
  return method === "GET" && (path === "/models" || path === GOOGLE_LIST);
}

/** Returns the upstreams that have the list; null where none has. */
export function findListing(
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
): Destinations | null {
  const [first, ...others] = destinations.filter(
    (one) => matchAt(one.upstream.table, request, settings) !== null,
  );
  return first === undefined ? null : [first, ...others];
}

/**
 * True for a list that is not passed through: several upstreams share it, one serves only some, or the tool may use only some. Where all of
 * them pass the tool's own key, only a request with that can get a list.
 */
export function isOwnList(listing: Destinations, policy: ToolPolicy | null): boolean {
  if (listing.every(({ account }) => account === "own")) return false;
  return listing.length > 1 || listing[0].upstream.models !== null || policy?.models != null;
}

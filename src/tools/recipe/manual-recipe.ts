import type { LocalEndpoint, Recipe } from "../tool.ts";

/**
 * The recipe of a tool without settings that tollkeeper could write: it only tells the user what can and cannot be
 * done.
 */
export function manualRecipe(remarks: (endpoint: LocalEndpoint) => readonly string[]): Recipe {
  return {
    scopes: [],
    modelApi: null,
    plan: (_host, endpoint) => ({ files: [], remarks: remarks(endpoint) }),
    environment: () => null,
  };
}

import type { LocalEndpoint, Recipe } from "../tool.ts";

/** Where the names of many editors' processes can be looked up. */
export const EDITOR_LIST = {
  source: "https://github.com/vitejs/launch-editor, packages/launch-editor/editor-info",
  date: "2026-11-22",
};

/** The recipe of a tool whose settings tollkeeper cannot write. Its remarks say what can and cannot be done. */
export function manualRecipe(remarks: (endpoint: LocalEndpoint) => readonly string[]): Recipe {
  return {
    scopes: [],
    modelApis: [],
    plan: (_host, endpoint) => ({ files: [], remarks: remarks(endpoint) }),
    environment: () => null,
  };
}

import type { Config } from "../../core/config/config.ts";
import { SANDBOX_UPSTREAM } from "../../core/config/names.ts";
import { APIS } from "../../core/http/api.ts";
import { explainChoice } from "../../core/policy/explain-choice.ts";

/** Returns the name of the upstream that serves a model, on whichever API; null when none does. */
export function chooseSeller(config: Config, tool: string | null, model: string): string | null {
  if (Object.keys(config.upstreams).length === 0) return SANDBOX_UPSTREAM;
  for (const api of APIS) {
    const chosen = explainChoice(config, { tool, api, model }).find(({ isChosen }) => isChosen);
    if (chosen !== undefined) return chosen.upstream.name;
  }
  return null;
}

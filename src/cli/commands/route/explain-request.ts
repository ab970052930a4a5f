import type { Config } from "../../../core/config/config.ts";
import { explainDecision, NOTHING_STANDS, type RoutedRequest } from "../../../core/decide/explain.ts";
import { prepareSettings } from "../../../core/decide/settings.ts";
import { aliasesOfTool } from "../../../core/policy/aliases.ts";
import { allowsModel, preparePolicies } from "../../../core/policy/tool-policy.ts";

/** An upstream, and why it gets the request or does not. */
export interface Choice {
  upstream: string;
  baseUrl: string;
  key: string | null;
  isChosen: boolean;
  reason: string;
  /** Whose key pays: ours, or the one that the tool sends. */
  credential: "key" | "client";
}

/** What the group of a tool says of a model. */
export interface GroupVerdict {
  group: string;
  models: readonly string[];
  isAllowed: boolean;
}

/** What becomes of a request for a model. */
export interface ExplainedRoute {
  request: RoutedRequest;
  /** The model that is requested in place of the tool's; null when that is. */
  alias: string | null;
  /** What the tool's group says; null where it says nothing. */
  group: GroupVerdict | null;
  choices: Choice[];
}

/** Returns what becomes of a request, and why not each of the other upstreams gets it. One that a plan pays has no choice. */
export function explainRequest(config: Config, request: RoutedRequest, isPlanned: boolean): ExplainedRoute {
  if (isPlanned)
    return {
      request,
      alias: null,
      group: explainGroup(config, request.tool ?? "", request.model),
      choices: [],
    };
  const alias = aliasesOfTool(config, request.tool ?? "")?.get(request.model) ?? null;
  const group = explainGroup(config, request.tool ?? "", alias ?? request.model);
  // The sandbox serves everything.
  if (Object.keys(config.upstreams).length === 0) return { request, alias, group, choices: [] };
  const { verdicts } = explainDecision(prepareSettings(config), request, NOTHING_STANDS);
  const choices = verdicts.map(
    ({ upstream: { name, baseUrl, credential }, destination, isChosen, reason }) => {
      const isStored = destination?.account === "key" && destination.key.source.kind !== "none";
      const key = isStored ? destination.key.name : null;
      return { upstream: name, baseUrl, key, credential, isChosen, reason };
    },
  );
  return { request, alias, group, choices };
}

function explainGroup(config: Config, tool: string, model: string): GroupVerdict | null {
  const policy = preparePolicies(config)?.(tool) ?? null;
  if (policy?.models == null) return null;
  const { group, patterns } = policy.models;
  return { group, models: patterns, isAllowed: allowsModel(policy, model) };
}

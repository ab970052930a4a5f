import type { Config, Upstream } from "../config/config.ts";
import { servesApi, servesOnlyBedrock } from "../http/api.ts";
import { aliasesOfTool } from "./aliases.ts";
import { matchesModel } from "./model-pattern.ts";
import { upstreamsForTool } from "./tool-access.ts";

/** What the upstreams behind a tool's requests have in common. A tool's own service offers more than its API describes. */
export interface ToolReach {
  /** No request for the Messages API leaves for a service other than Anthropic's own. */
  isAnthropic: boolean;
  /** No request for the Responses API leaves for a service other than OpenAI's own. */
  isOpenai: boolean;
  /** Each of its upstreams for the Responses API may speak WebSocket. */
  hasWebSocket: boolean;
  /** The AWS region of its upstreams, where all of them serve only Amazon Bedrock; null elsewhere. */
  bedrockRegion: string | null;
}

/** Of a tool whose upstreams are not known. */
export const NO_REACH: ToolReach = {
  isAnthropic: false,
  isOpenai: false,
  hasWebSocket: false,
  bedrockRegion: null,
};

/** Of a tool whose own plan pays: it goes to its vendor's own service, with what that has (docs/plans.md). */
export const PLAN_REACH: ToolReach = {
  isAnthropic: true,
  isOpenai: true,
  hasWebSocket: true,
  bedrockRegion: null,
};

/** For a host that names no region: the SDKs want one, and tollkeeper uses its own upstream whatever it is. */
const ANY_REGION = "us-east-1";

/** Each that changes what `connect` writes for a tool. */
export const ALL_REACHES: readonly ToolReach[] = [
  ...[true, false].flatMap((isOwn) =>
    [true, false].map((hasWebSocket) => {
      return { isAnthropic: isOwn, isOpenai: isOwn, hasWebSocket, bedrockRegion: null };
    }),
  ),
  { ...NO_REACH, bedrockRegion: ANY_REGION },
];

const ANTHROPIC = "https://api.anthropic.com";

/** How the names begin of the models that a vendor's own tool asks its service for. */
const FAMILIES = { messages: ["claude"], responses: ["gpt-", "codex", "chatgpt", "o1", "o3", "o4"] } as const;

/**
 * Returns what a tool reaches with its vendor's models, by the configuration: the upstreams that `chooseUpstream` can choose, with
 * every alias and fallback.
 * @param model the model that the tool will ask for; null where it is the tool's own choice
 */
export function reachOfTool(config: Config, tool: string, model: string | null): ToolReach {
  const messages = findReached(config, tool, "messages", model);
  const responses = findReached(config, tool, "responses", model);
  return {
    isAnthropic: areAllAt(messages, ANTHROPIC),
    isOpenai: areAllAt(responses, "https://api.openai.com"),
    hasWebSocket: responses.length > 0 && responses.every(({ websocket }) => websocket === "auto"),
    bedrockRegion: regionOfTool(config, tool),
  };
}

function regionOfTool(config: Config, tool: string): string | null {
  const upstreams = upstreamsForTool(config, tool);
  const [first] = upstreams;
  return first !== undefined && upstreams.every(servesOnlyBedrock) ? (first.region ?? ANY_REGION) : null;
}

/**
 * Returns the names of the upstreams outside Anthropic's own service that any request of a tool for the Messages API can reach, whatever
 * its model; null where no upstream serves that API. Stricter than {@link reachOfTool}, which asks about the vendor's models.
 */
export function findStrangers(config: Config, tool: string): string[] | null {
  const able = upstreamsForTool(config, tool).filter((upstream) => servesApi(upstream, "messages"));
  if (able.length === 0) return null;
  return able.filter(({ origin }) => origin !== ANTHROPIC).map(({ name }) => name);
}

function areAllAt(upstreams: readonly Upstream[], origin: string): boolean {
  return upstreams.length > 0 && upstreams.every((upstream) => upstream.origin === origin);
}

function findReached(
  config: Config,
  tool: string,
  api: keyof typeof FAMILIES,
  model: string | null,
): Upstream[] {
  const able = upstreamsForTool(config, tool).filter((upstream) => servesApi(upstream, api));
  const named = [...(aliasesOfTool(config, tool)?.values() ?? []), ...(model === null ? [] : [model])];
  const serves = ({ models }: Upstream) =>
    models === null ||
    named.some((one) => matchesModel(models, one)) ||
    models.some((pattern) => FAMILIES[api].some((start) => canBegin(pattern, start)));
  const fitting = able.filter((upstream) => serves(upstream));
  // One that serves every model leaves nothing to those after it.
  const last = fitting.findIndex(({ models }) => models === null);
  const chosen = last === -1 ? fitting : fitting.slice(0, last + 1);
  const fallbacks = new Set(chosen.flatMap(({ fallback }) => fallback));
  return fitting.filter((upstream) => chosen.includes(upstream) || fallbacks.has(upstream.name));
}

/** True when a name that begins with `start` can match the pattern. */
function canBegin(pattern: string, start: string): boolean {
  const [literal = ""] = pattern.split("*", 1);
  return literal.startsWith(start) || (literal !== pattern && start.startsWith(literal));
}

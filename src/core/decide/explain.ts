import { NO_SIZE } from "../budget/budget-request.ts";
import type { Upstream } from "../config/config.ts";
import type { Api, SharedApi } from "../http/api.ts";
import { HeaderIndex } from "../http/header-index.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { noPlan } from "../refusals/plans.ts";
import { choosePlan, judgeFit } from "./choose-upstream.ts";
import { judgeRequest, permit } from "./decide.ts";
import type { AskedRequest, Standing } from "./decision.ts";
import { findRoute, type ApiRequest, type RefusedRequest } from "./resolve-route.ts";
import type { Destination, Settings } from "./settings.ts";

/** A request as far as the choice of its upstream depends on it. */
export interface RoutedRequest {
  /** null for a tool that the configuration does not name. */
  tool: string | null;
  api: Api;
  model: string;
}

/** A request at the address of a tool's plan, with the tool's own login. */
export interface PlannedRequest extends RoutedRequest {
  tool: string;
  /** The plan's account that pays, as in `plan:claude/3f2a91c0`. */
  account: string;
}

/** Why an upstream gets a request, or does not. */
export interface Verdict {
  upstream: Upstream;
  /** null where the tool may not use the upstream. */
  destination: Destination | null;
  isChosen: boolean;
  /** In words, with the setting that decides. */
  reason: string;
}

/** What is decided about a request, and why. */
interface Explanation {
  /** null for a request that goes. */
  refusal: Refusal | null;
  /** One for each upstream, in the order of the file. */
  verdicts: Verdict[];
}

/** Nothing is paused, braked or spent: what the configuration alone decides. */
export const NOTHING_STANDS: Standing = {
  pauses: { judge: () => null, namesTools: false },
  brakes: { judge: () => null },
  limits: { judge: () => null },
  budgets: { counting: null, judge: () => null },
  creators: { find: () => null },
};

const PATHS: Record<SharedApi, string> = {
  messages: "/v1/messages",
  responses: "/v1/responses",
  chat: "/v1/chat/completions",
};

/** A path of Google's API names the model, and so does one of Bedrock's. */
function pathOf(api: Api, model: string): string {
  if (api === "bedrock") return `/model/${encodeURIComponent(model)}/converse`;
  return api === "gemini" ? `/v1beta/models/${encodeURIComponent(model)}:generateContent` : PATHS[api];
}

/** Decides about a small request for a model, as {@link decide} does for one that arrives, and says why. */
export function explainDecision(settings: Settings, routed: RoutedRequest, standing: Standing): Explanation {
  const tool = routed.tool ?? "";
  const request = toRequest(routed, settings);
  const asked = { request, ...askedBy(tool), expectsContinue: false };
  const place = { model: routed.model, from: 0, to: 0 };
  const size = { ...NO_SIZE, cachesLong: false };
  const body = {
    reader: { place, fault: null },
    copy: null,
    batch: null,
    fingerprint: "",
    size,
    refusal: null,
  };
  const step = judgeRequest(asked, body, settings, standing);
  const [refusal, choice] =
    step.kind === "refuse"
      ? [step.refusal, step.chosen?.choice]
      : [null, "choice" in step ? step.choice : null];
  const destinations = settings.destinationsFor(tool);
  const model = settings.aliasesFor(tool)?.get(routed.model) ?? routed.model;
  const verdicts = Object.values(settings.config.upstreams).map((upstream) => {
    const destination = destinations.find((one) => one.upstream.name === upstream.name) ?? null;
    const isFirst = choice?.upstream.name === upstream.name;
    const reason = isFirst
      ? explainFirst(refusal)
      : explainOther(upstream, destination, { request, settings, tool, model }, choice?.upstream ?? null);
    return { upstream, destination, isChosen: isFirst && refusal === null, reason };
  });
  return { refusal, verdicts };
}

/**
 * Judges a small request at the address of a plan, as {@link decide} does one that arrives there with the tool's own login. Returns its
 * refusal; null for one that goes.
 */
export function judgePlanAddress(
  settings: Settings,
  { tool, account, ...routed }: PlannedRequest,
  standing: Standing,
  /** As in `PlanDestination`. */
  isExtra: boolean,
): Refusal | null {
  const paused = standing.pauses.judge(tool, settings.config);
  if (paused !== null) return paused;
  const destination = settings.plans.get(tool);
  if (destination === undefined) return noPlan(tool);
  const request = toRequest({ tool, ...routed }, destination.upstream);
  if (request.kind === "refusal") return request.refusal;
  const choice = choosePlan(request, { ...destination, key: { name: account }, isExtra });
  const policy = settings.policyFor?.(tool) ?? null;
  const chosen = { choice, policy, model: routed.model, alias: null, isBound: true, size: NO_SIZE };
  const step = permit(askedBy(tool), request, { ...chosen, fingerprint: "" }, null, settings, standing);
  return step.kind === "refuse" ? step.refusal : null;
}

/** Stands for the key of its own that a tool sends where an upstream passes that. Anywhere else it decides nothing. */
const SOME_KEY = new HeaderIndex(["authorization", "Bearer key-of-the-tool"]);

/** A tool on this machine that sends nothing but its request and a key. */
function askedBy(tool: string): Pick<AskedRequest, "headers" | "client"> {
  const peer = { project: null, isProjectPending: false, isOwn: true };
  return { headers: SOME_KEY, client: { tool, isProvisional: false, refusal: null, peer } };
}

function toRequest(
  { api, model }: RoutedRequest,
  { table }: Pick<Settings, "table">,
): ApiRequest | RefusedRequest {
  const [method, path] = ["POST", pathOf(api, model)];
  const match = findRoute(table, method, path);
  return "code" in match
    ? { kind: "refusal", mark: null, refusal: match }
    : {
        kind: "api",
        mark: null,
        method,
        path,
        query: "",
        match,
        plan: null,
        ownKey: null,
        speaksMessages: api === "messages",
        speaksGoogle: api === "gemini",
        isForm: false,
      };
}

function explainFirst(refusal: Refusal | null): string {
  return refusal === null ? "the first that fits" : `would get it, but ${refusal.problem}`;
}

/** A request for a model, as far as an upstream is judged by it. */
interface Wanted {
  request: ApiRequest | RefusedRequest;
  settings: Settings;
  tool: string;
  model: string;
}

function explainOther(
  { name, apis, models }: Upstream,
  destination: Destination | null,
  { request, settings, tool, model }: Wanted,
  chosen: Upstream | null,
): string {
  if (destination === null) return `"tools.${tool}.upstreams" does not name it`;
  const fit = request.kind === "refusal" ? "no route" : judgeFit(destination, request, settings, model);
  if (fit === "no route")
    return apis === null ? "it has no such route" : `"apis" has only ${apis.join(", ")}`;
  if (fit === "other models")
    return models?.length === 0 ? `"models" is empty` : `"models" has only ${models?.join(", ")}`;
  if (chosen === null) return "would get it";
  return chosen.fallback.includes(name)
    ? `a fallback of ${chosen.name}: asked if ${chosen.name} does nothing with the request, or is skipped after failures`
    : `would get it, but comes after ${chosen.name}`;
}

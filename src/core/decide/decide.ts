import type { BudgetRequest } from "../budget/budget-request.ts";
import { SANDBOX_UPSTREAM } from "../config/names.ts";
import type { HeaderIndex } from "../http/header-index.ts";
import { findPlanOf } from "../plans/plans.ts";
import type { BrakedRequest } from "../policy/brake.ts";
import { isBraked, isBudgeted, judgeModel, judgeStorage, mustOwnBatch } from "../policy/tool-policy.ts";
import { asThrottle, keyWouldPay } from "../refusals/plans.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { choose } from "./choose.ts";
import {
  chooseByRoute,
  choosePlan,
  findCreator,
  modelInPath,
  namePayer,
  orderForStorage,
  preferCreator,
  withOutput,
  type Choice,
} from "./choose-upstream.ts";
import {
  refuse,
  UNREAD,
  type AskedRequest,
  type BodyFacts,
  type Chosen,
  type Decision,
  type Need,
  type OwnList,
  type Refused,
  type Requester,
  type Standing,
} from "./decision.ts";
import { findListing, isList, isOwnList } from "./listing.ts";
import { judgeOwnKey } from "./own-keys.ts";
import { choosePlanned } from "./plans.ts";
import { announcedBytes, checkLength } from "./readable-body.ts";
import type { ApiRequest } from "./resolve-route.ts";
import type { Settings } from "./settings.ts";

const NEEDS_PROCESS: Need = { kind: "need", what: "process", only: null };
const NEEDS_PROJECT: Need = { kind: "need", what: "project", only: null };
const NEEDS_CREATOR: Need = { kind: "need", what: "creator", only: null };
const NEEDS_SPENDING: Need = { kind: "need", what: "spending", only: null };

/**
 * Decides what becomes of a request: by the client's token, the pauses, the tool's upstreams and aliases, the login or key that it sends, its group, its
 * brakes, what they keep of the paying account's limits, its budgets, and its length, in this order. The first that refuses it decides. What it
 * needs to know of the body it asks for, and is then called again. A body that can be read no further is refused for that.
 */
export function decide(
  asked: AskedRequest,
  body: BodyFacts,
  settings: Settings,
  standing: Standing,
): Decision | Refused | OwnList | Need {
  const step =
    body.refusal === null ? judgeRequest(asked, body, settings, standing) : refuse(body.refusal, null);
  return step.kind === "refuse" && step.chosen === null ? place(step, asked, settings) : step;
}

/**
 * Finds where a refused request would have gone: each that has a route leaves a record, whatever refuses it. Where only the model tells
 * which upstream, or something else comes before the choice, that is the first of its tool's upstreams that has the route.
 */
function place(refused: Refused, { request, client }: AskedRequest, settings: Settings): Refused {
  if (request.kind === "refusal") return refused;
  const choice =
    request.plan === null
      ? chooseByRoute(request, orderForStorage(request, settings.destinationsFor(client.tool)), settings)
      : choosePlan(request, request.plan);
  if (choice === null) return refused;
  return { ...refused, chosen: { ...UNREAD, choice, policy: null, ...refused.named } };
}

/** As {@link decide}, but a refusal that comes before the choice of an upstream has none. */
export function judgeRequest(
  asked: AskedRequest,
  body: BodyFacts,
  settings: Settings,
  standing: Standing,
): Decision | Refused | OwnList | Need {
  const { request, client } = asked;
  if ((settings.namesTools || standing.pauses.namesTools) && client.isProvisional) return NEEDS_PROCESS;
  const paused = standing.pauses.judge(client.tool, settings.config);
  if (paused !== null) return refuse(client.refusal ?? paused, null);
  if (request.kind === "refusal") return refuse(client.refusal ?? request.refusal, null);
  const policy = settings.policyFor === null ? null : settings.policyFor(client.tool);
  if (request.plan !== null) {
    const planned = choosePlanned(asked, request, request.plan, body, policy, settings);
    return "kind" in planned ? planned : permit(asked, request, planned, null, settings, standing);
  }
  const destinations = settings.destinationsFor(client.tool);
  const listing = isList(request.match.route) ? findListing(request, destinations, settings) : null;
  if (listing !== null && isOwnList(listing, policy))
    return client.refusal === null
      ? { kind: "list", request, destinations: listing, policy }
      : refuse(client.refusal, null);
  const mustOwn = mustOwnBatch(policy, request.match.route);
  const creator =
    client.refusal === null ? findCreator(request, destinations, settings, standing.creators, mustOwn) : null;
  if (creator === undefined) return NEEDS_CREATOR;
  const own =
    creator === null
      ? orderForStorage(request, destinations)
      : preferCreator(creator, client.tool, destinations, settings);
  const chosen = choose(asked, request, body, own, policy, settings);
  if ("kind" in chosen) return chosen;
  const fetched =
    creator === null || creator.batch === null
      ? chosen
      : { ...chosen, choice: withOutput(chosen.choice, creator) };
  return permit(asked, request, fetched, creator?.tool ?? null, settings, standing);
}

/** Judges a request whose upstream is chosen. A refused one leaves a record. */
export function permit(
  { headers, client }: Pick<AskedRequest, "headers" | "client">,
  request: ApiRequest,
  chosen: Chosen,
  /** The tool that created the stored object that the request is about; null where that decides nothing, or is not known. */
  creator: string | null,
  settings: Settings,
  standing: Standing,
): Decision | Refused | Need {
  const { policy, choice } = chosen;
  const { match } = request;
  const refusal =
    client.refusal ??
    judgeLogin(choice, headers, settings) ??
    judgeOwnKey(choice, headers, client.tool, request, settings) ??
    judgeStorage(policy, choice.route, client.tool, creator) ??
    judgeRequestedModel(chosen, client, match) ??
    throttle(chosen, judgeBrakes(chosen, standing)) ??
    judgeLimits(chosen, choice, standing);
  if (refusal !== null) return refuse(refusal, chosen);
  if (isBudgeted(chosen.policy, match.route)) {
    if (settings.hasProjectBudgets && client.peer.isProjectPending) return NEEDS_PROJECT;
    if (standing.budgets.counting !== null) return NEEDS_SPENDING;
  }
  const spent = throttle(chosen, judgeBudgets(chosen, chosen.choice, client, standing));
  const obstacle = spent ?? checkLength(headers, settings);
  if (obstacle !== null) return refuse(obstacle, chosen);
  return { kind: "send", announcedBytes: announcedBytes(headers), ...chosen };
}

/** Refuses the login of a plan where a key would pay for it. */
export function judgeLogin(
  { account, route, upstream }: Choice,
  headers: HeaderIndex,
  { config }: Settings,
): Refusal | null {
  if (account !== "key" || route.auth === "none" || upstream.name === SANDBOX_UPSTREAM) return null;
  const other = config.planLogins === "refuse" ? findPlanOf(headers) : null;
  return other === null ? null : keyWouldPay(other);
}

/** A tool with a plan takes what limits it as a limit of the plan, and waits. */
function throttle({ choice }: Chosen, refusal: Refusal | null): Refusal | null {
  return refusal === null || choice.plan === null ? refusal : asThrottle(refusal);
}

function judgeRequestedModel(
  { policy, model, alias }: Chosen,
  { tool }: Requester,
  match: ApiRequest["match"],
): Refusal | null {
  if (policy?.models == null) return null;
  const asked = modelInPath(match) ?? model;
  return judgeModel(policy.models, { tool, asked, model: alias ?? asked });
}

/** Brakes judge the request and none of its attempts, because the tool sent it once. */
function judgeBrakes(chosen: Chosen, { brakes }: Standing): Refusal | null {
  const braked = brakedRequest(chosen);
  return braked === null ? null : brakes.judge(braked);
}

/**
 * Judges one attempt by what is left of the account that would pay for it, which a brake may keep. Returns the refusal; null for an attempt
 * that may go.
 */
export function judgeLimits(
  { policy }: Pick<Chosen, "policy">,
  choice: Choice,
  { limits }: Pick<Standing, "limits">,
): Refusal | null {
  return policy === null || !isBraked(policy, choice.route) ? null : limits.judge(policy.brakes, choice);
}

/** Returns a request as brakes see it; null where none is for it. */
export function brakedRequest({ policy, choice, fingerprint }: Chosen): BrakedRequest | null {
  if (policy === null || !isBraked(policy, choice.route)) return null;
  return { brakes: policy.brakes, body: fingerprint };
}

/**
 * Judges one attempt by the budgets: each goes to another upstream, by another price, and maybe with another key. Returns the refusal;
 * null for an attempt that may go.
 */
export function judgeBudgets(
  chosen: Chosen,
  choice: Choice,
  client: Requester,
  { budgets }: Pick<Standing, "budgets">,
): Refusal | null {
  const request = budgetRequest(chosen, choice, client);
  return request === null ? null : budgets.judge(request);
}

/** Returns an attempt as budgets see it; null where none is for it. */
export function budgetRequest(
  { policy, model, alias, size }: Chosen,
  choice: Choice,
  { tool, peer }: Requester,
): BudgetRequest | null {
  if (!isBudgeted(policy, choice.route)) return null;
  const { key, upstream } = namePayer(choice);
  return {
    tool,
    project: peer.project,
    key,
    upstream,
    model: alias ?? model,
    ...size,
  };
}

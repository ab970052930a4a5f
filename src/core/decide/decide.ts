import { ASSUMED_CONTEXT, NO_SIZE, type BodySize, type BudgetRequest } from "../budget/budget-request.ts";
import type { Config } from "../config/config.ts";
import { estimateTokens } from "../usage/estimate-tokens.ts";
import type { Creator } from "./creator.ts";
import type { HeaderIndex } from "../http/header-index.ts";
import { replaceModel, withoutCollection, type ModelPath } from "../http/gemini/model-path.ts";
import type { BrakedRequest } from "../policy/brake.ts";
import type { ModelReader } from "../policy/model-reader.ts";
import {
  comparesBodies,
  isBraked,
  isBudgeted,
  isJudgedBatch,
  judgeBatch,
  judgeModel,
  judgeStorage,
  mustNameModel,
  mustOwnBatch,
  type ToolPolicy,
} from "../policy/tool-policy.ts";
import { unplaceableModel, unreadableBatch, unreadableModel } from "../refusals/models.ts";
import type { Refusal } from "../refusals/refusal.ts";
import {
  choosePlan,
  chooseUpstream,
  findCreator,
  modelInPath,
  namesModel,
  orderForStorage,
  preferCreator,
  type Choice,
} from "./choose-upstream.ts";
import { findListing, isList, isOwnList } from "./listing.ts";
import { announcedBytes, checkLength, findFault, findUnreadable } from "./readable-body.ts";
import type { ApiRequest, RefusedRequest } from "./resolve-route.ts";
import type { Destinations, PlanDestination, Settings } from "./settings.ts";
import { isUnderListedName } from "../http/admission.ts";
import { SANDBOX_UPSTREAM } from "../config/names.ts";
import { findLoginFault, findPlanOf, type Plan } from "../plans/plans.ts";
import { asThrottle, keyWouldPay, notOwnLogin, otherToolsPlan, PLAN_NOT_LOCAL } from "../refusals/plans.ts";

/** Who sends a request, as far as the decision depends on it. */
interface Requester {
  readonly tool: string;
  /** True while the process behind the connection is being looked for, and could name the tool. */
  readonly isProvisional: boolean;
  /** The refusal for a client without the token that it needs; null for any other. */
  readonly refusal: Refusal | null;
  readonly peer: {
    readonly project: string | null;
    readonly isProjectPending: boolean;
    readonly isOwn: boolean;
  };
}

/** A request as far as the decision depends on it, apart from its body. */
export interface AskedRequest {
  request: ApiRequest | RefusedRequest;
  headers: HeaderIndex;
  client: Requester;
  /** True for a client that waits for `100 Continue` before it sends its body. */
  expectsContinue: boolean;
}

/** What has been read of a body so far. */
export interface BodyFacts {
  /** How far the search for its model got; null if it was not searched for. */
  reader: Pick<ModelReader, "fault" | "place"> | null;
  /** What a batch asks for; null if it was not read for that. */
  batch: BatchFacts | null;
  /** What the whole body may spend; null if it was not read for that. */
  size: BodySize | null;
  /** What tells the body from those of other requests; null if it was not read for that. */
  fingerprint: string | null;
}

/** Which models a batch names, each with the index of the first request that does, and what it may spend, or what is wrong with it. */
export interface BatchFacts {
  models: ReadonlyMap<string, number>;
  size: BodySize;
  fault: string | null;
}

/** What stands at this moment. Asking changes nothing. */
export interface Standing {
  pauses: {
    judge(tool: string, config: Config): Refusal | null;
    /** True while a tool is paused by name. */
    readonly namesTools: boolean;
  };
  brakes: { judge(request: BrakedRequest): Refusal | null };
  budgets: {
    /** null once it is known what was spent before. */
    readonly counting: Promise<void> | null;
    judge(request: BudgetRequest): Refusal | null;
  };
  creators: {
    /** Returns who created a stored object; null if it is not known, and undefined before the ledger was asked. */
    find(id: string): Creator | null | undefined;
  };
}

/** A request whose upstream is chosen. */
export interface Chosen {
  choice: Choice;
  policy: ToolPolicy | null;
  /** The model that the client names; null where it was not read. */
  model: string | null;
  /** The model to request in place of the client's; null to request that. */
  alias: string | null;
  /** True where the model has decided something: the body may name no other. */
  isBound: boolean;
  /** What it may spend, where budgets ask. */
  size: BodySize;
  /** What the brakes compare; null where they compare nothing. */
  fingerprint: string | null;
}

/** A request that goes to an upstream. */
export interface Decision extends Chosen {
  kind: "send";
  /** `content-length`; null for a chunked body. */
  announcedBytes: number | null;
}

/** A request that goes nowhere. */
interface Refused {
  kind: "refuse";
  refusal: Refusal;
  /** Where it would have gone, for its record; null if it was refused before that was known, and leaves none. */
  chosen: Chosen | null;
}

/** The list of models, which several upstreams share, or of which the tool may see a part. */
export interface OwnList {
  kind: "list";
  request: ApiRequest;
  destinations: Destinations;
  policy: ToolPolicy | null;
}

/** What has to be known before {@link decide} is called again. */
export interface Need {
  kind: "need";
  /** The process that may name the tool, its project, who created the stored object that it is about, the body's model or those of a batch, what tells the body from others, what it may spend, or what was spent before. */
  what: "process" | "project" | "creator" | "model" | "batch" | "fingerprint" | "size" | "spending";
  /** For the model: whether it is a fault to name further models for the service to choose from. */
  isOnly: boolean;
}

const NEEDS_PROCESS: Need = { kind: "need", what: "process", isOnly: false };
const NEEDS_PROJECT: Need = { kind: "need", what: "project", isOnly: false };
const NEEDS_CREATOR: Need = { kind: "need", what: "creator", isOnly: false };
const NEEDS_MODEL: Need = { kind: "need", what: "model", isOnly: false };
const NEEDS_ONLY_MODEL: Need = { kind: "need", what: "model", isOnly: true };
const NEEDS_BATCH: Need = { kind: "need", what: "batch", isOnly: true };
const NEEDS_FINGERPRINT: Need = { kind: "need", what: "fingerprint", isOnly: false };
const NEEDS_SIZE: Need = { kind: "need", what: "size", isOnly: false };
const NEEDS_SPENDING: Need = { kind: "need", what: "spending", isOnly: false };

/**
 * Decides what becomes of a request: by the pauses, the client's token, the tool's upstreams and aliases, its group, its brakes and its budgets, in
 * this order. The first that refuses it decides. What it needs to know of the body it asks for, and is then called again.
 */
export function decide(
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
  const by = creator?.tool ?? null;
  return "kind" in chosen ? chosen : permit(asked, request, chosen, by, settings, standing);
}

/** Chooses the upstream: by the model where that decides, or whether the request may leave. */
function choose(
  asked: AskedRequest,
  request: ApiRequest,
  body: BodyFacts,
  destinations: Destinations,
  policy: ToolPolicy | null,
  settings: Settings,
): Chosen | Refused | Need {
  const { route, named } = request.match;
  const { client, headers } = asked;
  if (named !== null && route.method === "POST")
    return chooseByPath(asked, request, named, body, destinations, policy, settings);
  const aliases = namesModel(route) && !request.isForm ? settings.aliasesFor(client.tool) : null;
  const isJudged = policy?.models != null && mustNameModel(route);
  const choice = aliases === null && !isJudged ? chooseUpstream(request, destinations, settings, null) : null;
  if (choice !== null) {
    if ("code" in choice) return refuse(client.refusal ?? choice, null);
    if (policy !== null && isJudgedBatch(policy, choice.route))
      return judgeRequests(asked, request, choice, body, policy, settings);
    const known = { choice, model: null, alias: null, isBound: false };
    return sizeUp(asked, request, known, body, policy, settings);
  }
  if (client.refusal !== null) return refuse(client.refusal, null);
  const { reader } = body;
  if (reader === null) {
    const fault = findFault(headers, request);
    const obstacle = fault === null ? checkLength(headers, settings) : unreadableModel(fault);
    if (obstacle !== null) return refuse(obstacle, null);
    return policy?.models == null ? NEEDS_MODEL : NEEDS_ONLY_MODEL;
  }
  if (reader.place === null) return refuse(unreadableModel(reader.fault ?? "the body names no model"), null);
  const model = route.api === "gemini" ? withoutCollection(reader.place.model) : reader.place.model;
  const alias = aliases?.get(model) ?? null;
  const found = chooseUpstream(request, destinations, settings, alias ?? model);
  if ("code" in found) return refuse(found, null);
  if (body.fingerprint === null && comparesBodies(policy, route)) return NEEDS_FINGERPRINT;
  if (body.size === null && isBudgeted(policy, route)) return NEEDS_SIZE;
  const { fingerprint, size } = body;
  return { choice: found, policy, model, alias, isBound: true, size: size ?? NO_SIZE, fingerprint };
}

/** Judges the requests of a batch whose upstream is chosen: the tool's group has to allow the model of each. Budgets judge their sum. */
function judgeRequests(
  asked: AskedRequest,
  request: ApiRequest,
  choice: Choice,
  body: BodyFacts,
  policy: ToolPolicy,
  settings: Settings,
): Chosen | Refused | Need {
  const { client, headers } = asked;
  if (client.refusal !== null) return refuse(client.refusal, null);
  const unread = {
    choice,
    policy,
    model: null,
    alias: null,
    isBound: false,
    size: NO_SIZE,
    fingerprint: null,
  };
  const fault = findFault(headers, request) ?? body.batch?.fault ?? null;
  const obstacle = fault === null ? checkLength(headers, settings) : unreadableBatch(fault);
  if (obstacle !== null) return refuse(obstacle, unread);
  if (body.batch === null) return NEEDS_BATCH;
  const { models, size } = body.batch;
  const forbidden = policy.models === null ? null : judgeBatch(policy.models, client.tool, models);
  if (forbidden !== null) return refuse(forbidden.refusal, { ...unread, model: forbidden.model });
  const [model = null, ...others] = models.keys();
  if (body.fingerprint === null && comparesBodies(policy, choice.route)) return NEEDS_FINGERPRINT;
  const { fingerprint } = body;
  return { ...unread, size, fingerprint, model: others.length === 0 ? model : null };
}

/**
 * Chooses the upstream by the model that the path names. Where that decides anything, the body may name no other: some services would take
 * that (SECURITY.md C9).
 */
function chooseByPath(
  asked: AskedRequest,
  request: ApiRequest,
  named: ModelPath,
  body: BodyFacts,
  destinations: Destinations,
  policy: ToolPolicy | null,
  settings: Settings,
): Chosen | Refused | Need {
  const { client, headers } = asked;
  const { model } = named;
  const aliases = settings.aliasesFor(client.tool);
  const alias = aliases?.get(model) ?? null;
  if (client.refusal === null && alias !== null && replaceModel(request.match.path, named, alias) === null)
    return refuse(unplaceableModel(alias), null);
  const choice = chooseUpstream(
    request,
    destinations,
    settings,
    client.refusal === null ? (alias ?? model) : model,
  );
  if ("code" in choice) return refuse(client.refusal ?? choice, null);
  const isBound =
    aliases !== null ||
    policy?.models != null ||
    destinations.some(({ upstream }) => upstream.models !== null);
  const fault = isBound ? findFault(headers, request) : null;
  if (fault !== null && client.refusal === null) return refuse(unreadableModel(fault), null);
  return sizeUp(asked, request, { choice, model, alias, isBound }, body, policy, settings);
}

/** Chooses the service of a plan: the path has said which one. The body decides nothing but whether the request may leave. */
function choosePlanned(
  asked: AskedRequest,
  request: ApiRequest,
  destination: PlanDestination,
  body: BodyFacts,
  policy: ToolPolicy | null,
  settings: Settings,
): Chosen | Refused | Need {
  const { headers, client } = asked;
  const { plan } = destination;
  const known = { choice: choosePlan(request, destination), model: null, alias: null, isBound: false };
  const refusal = client.refusal ?? judgePlanned(plan, asked, settings);
  if (refusal !== null) return refuse(refusal, { ...known, policy, size: NO_SIZE, fingerprint: null });
  if (policy?.models == null || !mustNameModel(request.match.route))
    return sizeUp(asked, request, known, body, policy, settings);
  if (body.reader === null) {
    const fault = findFault(headers, request);
    const obstacle = fault === null ? checkLength(headers, settings) : unreadableModel(fault);
    return obstacle === null ? NEEDS_ONLY_MODEL : refuse(obstacle, null);
  }
  const { place, fault } = body.reader;
  if (place === null) return refuse(unreadableModel(fault ?? "the body names no model"), null);
  return sizeUp(asked, request, { ...known, model: place.model, isBound: true }, body, policy, settings);
}

/** Returns the refusal of a request that may not use the plan: only the tool itself may, on this machine (docs/plans.md). */
function judgePlanned(plan: Plan, { headers, client }: AskedRequest, { rules }: Settings): Refusal | null {
  if (!client.peer.isOwn || isUnderListedName(headers, rules)) return PLAN_NOT_LOCAL;
  if (client.tool !== plan.tool) return otherToolsPlan(plan, client.tool);
  const fault = findLoginFault(plan, headers);
  return fault === null ? null : notOwnLogin(plan, fault);
}

/**
 * Completes what is known of a request whose upstream does not depend on its body. For the prices of its model, or to compare it with
 * others, the body is read; one in which the model cannot be read passes all the same.
 */
function sizeUp(
  { headers, client, expectsContinue }: AskedRequest,
  request: ApiRequest,
  known: Pick<Chosen, "choice" | "model" | "alias" | "isBound">,
  { reader, fingerprint, size }: BodyFacts,
  policy: ToolPolicy | null,
  settings: Settings,
): Chosen | Refused | Need {
  const { choice } = known;
  // In Node 20 a member that is added after a spread costs 2 µs, before it nothing (docs/performance.md).
  const unread = { policy, size: NO_SIZE, fingerprint, ...known };
  const [budgeted, compared] = [isBudgeted(policy, choice.route), comparesBodies(policy, choice.route)];
  if (!budgeted && !compared) return unread;
  const tooLong = checkLength(headers, settings);
  if (tooLong !== null) return refuse(tooLong, null);
  const bytes = announcedBytes(headers);
  // A file's bytes say little of its tokens: a minute of sound is a megabyte, and some hundred of these.
  const most = request.isForm ? ASSUMED_CONTEXT : Infinity;
  const input = bytes === null ? ASSUMED_CONTEXT : Math.min(most, estimateTokens(bytes));
  const announced = { ...unread, size: { ...NO_SIZE, input } };
  if (client.refusal !== null) return announced;
  // A client that waits for `100 Continue` gets it from the upstream's connection, unless a budget needs to know the body.
  if (compared && fingerprint === null && !expectsContinue) return NEEDS_FINGERPRINT;
  if (!budgeted || findUnreadable(headers, request) !== null) return announced;
  if (reader === null || size === null) return NEEDS_SIZE;
  return { ...announced, model: known.model ?? reader.place?.model ?? null, size };
}

/** Judges a request whose upstream is chosen. A refused one leaves a record. */
function permit(
  { headers, client }: AskedRequest,
  { match }: ApiRequest,
  chosen: Chosen,
  /** The tool that created the stored object that the request is about; null where that decides nothing, or is not known. */
  creator: string | null,
  settings: Settings,
  standing: Standing,
): Decision | Refused | Need {
  const { policy, choice } = chosen;
  const refusal =
    client.refusal ??
    judgeLogin(choice, headers, settings) ??
    judgeStorage(policy, choice.route, client.tool, creator) ??
    judgeRequestedModel(chosen, client, match) ??
    throttle(chosen, judgeBrakes(chosen, standing));
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
function judgeLogin(
  { plan, route, upstream }: Choice,
  headers: HeaderIndex,
  { config }: Settings,
): Refusal | null {
  if (plan !== null || route.auth === "none" || upstream.name === SANDBOX_UPSTREAM) return null;
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
  { route, upstream, key }: Choice,
  { tool, peer }: Requester,
): BudgetRequest | null {
  if (!isBudgeted(policy, route)) return null;
  return {
    tool,
    project: peer.project,
    key: key.name,
    upstream: upstream.name,
    model: alias ?? model,
    ...size,
  };
}

function refuse(refusal: Refusal, chosen: Chosen | null): Refused {
  return { kind: "refuse", refusal, chosen };
}

import { ASSUMED_CONTEXT, NO_SIZE } from "../budget/budget-request.ts";
import { withoutCollection } from "../http/gemini/model-path.ts";
import type { ModelInPath } from "../http/routes.ts";
import { replaceModelInPath } from "./replace-model-in-path.ts";
import {
  comparesBodies,
  isBudgeted,
  isJudgedBatch,
  judgeBatch,
  mustNameModel,
  type ToolPolicy,
} from "../policy/tool-policy.ts";
import { unplaceableModel, unreadableBatch, unreadableModel } from "../refusals/models.ts";
import { estimateTokens } from "../usage/estimate-tokens.ts";
import type { Aliases } from "../policy/aliases.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { chooseUpstream, namesModel, type Choice, type ConfiguredChoice } from "./choose-upstream.ts";
import {
  refuse,
  UNREAD,
  type AskedRequest,
  type BodyFacts,
  type Chosen,
  type Need,
  type Refused,
} from "./decision.ts";
import { announcedBytes, checkLength, findFault, findUnreadable } from "./readable-body.ts";
import type { ApiRequest } from "./resolve-route.ts";
import type { Destinations, Settings } from "./settings.ts";

const NEEDS_MODEL: Need = { kind: "need", what: "model", only: null };
const NEEDS_FINGERPRINT: Need = { kind: "need", what: "fingerprint", only: null };
const NEEDS_SIZE: Need = { kind: "need", what: "size", only: null };

/** Where budgets alone judge a batch. */
const ANY_MODEL: readonly string[] = ["*"];

/** Chooses the upstream: by the model where that decides, or whether the request may leave. */
export function choose(
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
  const isJudged = policy?.models != null && mustNameModel(route) && !isRefusedUnread(asked, settings);
  const choice = isJudged ? null : chooseUnread(request, destinations, aliases, settings);
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
    return policy?.models == null ? NEEDS_MODEL : { ...NEEDS_MODEL, only: policy.models.patterns };
  }
  if (reader.place === null) return refuse(unreadableModel(reader.fault ?? "the body names no model"), null);
  const model = route.api === "gemini" ? withoutCollection(reader.place.model) : reader.place.model;
  const { found, alias } = chooseNamed(request, destinations, model, aliases, settings);
  if ("code" in found) return refuse(found, null, { model, alias });
  if (body.fingerprint === null && comparesBodies(policy, route)) return NEEDS_FINGERPRINT;
  if (body.size === null && isBudgeted(policy, route)) return NEEDS_SIZE;
  const { fingerprint, size } = body;
  return { choice: found, policy, model, alias, isBound: true, size: size ?? NO_SIZE, fingerprint };
}

/**
 * True for a request that is refused whatever its body says. It goes on unread to `permit`, which finds the refusal that comes first: the same
 * one with a group, a budget or a brake as without.
 */
export function isRefusedUnread(
  { client, headers }: Pick<AskedRequest, "client" | "headers">,
  settings: Settings,
): boolean {
  return client.refusal !== null || checkLength(headers, settings) !== null;
}

/** Chooses the upstream without the model; null where that decides. An upstream that passes the tool's own key has no aliases. */
function chooseUnread(
  request: ApiRequest,
  destinations: Destinations,
  aliases: Aliases | null,
  settings: Settings,
): ConfiguredChoice | Refusal | null {
  if (aliases === null) return chooseUpstream(request, destinations, settings, null);
  if (!settings.passesOwnKeys) return null;
  const choice = chooseUpstream(request, destinations, settings, null);
  return choice !== null && "account" in choice && choice.account === "own" ? choice : null;
}

/**
 * Chooses the upstream by the model that the client names, or by its alias. What goes to an upstream with the tool's own key goes there
 * by the client's name and as it is: no alias moves a request there, or away.
 */
export function chooseNamed(
  request: ApiRequest,
  destinations: Destinations,
  model: string,
  aliases: Aliases | null,
  settings: Settings,
): { found: ConfiguredChoice | Refusal; alias: string | null } {
  const alias = aliases?.get(model) ?? null;
  if (alias === null || !settings.passesOwnKeys)
    return { found: chooseUpstream(request, destinations, settings, alias ?? model), alias };
  const direct = chooseUpstream(request, destinations, settings, model);
  const [first, ...others] = destinations.filter(({ account }) => account === "key");
  if (first === undefined || ("account" in direct && direct.account === "own"))
    return { found: direct, alias: null };
  return { found: chooseUpstream(request, [first, ...others], settings, alias), alias };
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
  const unread = { ...UNREAD, choice, policy };
  if (isRefusedUnread(asked, settings)) return unread;
  const fault = findFault(headers, request) ?? body.batch?.fault ?? null;
  if (fault !== null) return refuse(unreadableBatch(fault), unread);
  if (body.batch === null) return { kind: "need", what: "batch", only: policy.models?.patterns ?? ANY_MODEL };
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
  named: ModelInPath,
  body: BodyFacts,
  destinations: Destinations,
  policy: ToolPolicy | null,
  settings: Settings,
): Chosen | Refused | Need {
  const { client, headers } = asked;
  const { model } = named;
  const aliases = settings.aliasesFor(client.tool);
  const wanted = aliases?.get(model) ?? null;
  if (
    client.refusal === null &&
    wanted !== null &&
    replaceModelInPath(request.match.path, named, wanted) === null
  )
    return refuse(unplaceableModel(wanted), null);
  const { found: choice, alias } =
    client.refusal === null
      ? chooseNamed(request, destinations, model, aliases, settings)
      : { found: chooseUpstream(request, destinations, settings, model), alias: wanted };
  if ("code" in choice) return refuse(client.refusal ?? choice, null);
  const isBound =
    aliases !== null ||
    policy?.models != null ||
    destinations.some(({ upstream }) => upstream.models !== null);
  const fault = isBound && !isRefusedUnread(asked, settings) ? findFault(headers, request) : null;
  if (fault !== null)
    return refuse(unreadableModel(fault), { ...UNREAD, choice, policy, model, alias, isBound });
  return sizeUp(asked, request, { choice, model, alias, isBound }, body, policy, settings);
}

/**
 * Completes what is known of a request whose upstream does not depend on its body. For the prices of its model, or to compare it with
 * others, the body is read; one in which the model cannot be read passes all the same.
 */
export function sizeUp(
  asked: AskedRequest,
  request: ApiRequest,
  known: Pick<Chosen, "choice" | "model" | "alias" | "isBound">,
  { reader, fingerprint, size }: BodyFacts,
  policy: ToolPolicy | null,
  settings: Settings,
): Chosen | Refused | Need {
  const { headers, expectsContinue } = asked;
  const { choice } = known;
  // In Node 20 a member that is added after a spread costs 2 µs, before it nothing (docs/performance.md).
  const unread = { policy, size: NO_SIZE, fingerprint, ...known };
  const [budgeted, compared] = [isBudgeted(policy, choice.route), comparesBodies(policy, choice.route)];
  if (!budgeted && !compared) return unread;
  const bytes = announcedBytes(headers);
  // A file's bytes say little of its tokens: a minute of sound is a megabyte, and some hundred of these.
  const most = request.isForm ? ASSUMED_CONTEXT : Infinity;
  const input = bytes === null ? ASSUMED_CONTEXT : Math.min(most, estimateTokens(bytes));
  const announced = { ...unread, size: { ...NO_SIZE, input } };
  if (isRefusedUnread(asked, settings)) return announced;
  // A client that waits for `100 Continue` gets it from the upstream's connection, unless a budget needs to know the body.
  if (compared && fingerprint === null && !expectsContinue) return NEEDS_FINGERPRINT;
  if (!budgeted || findUnreadable(headers, request) !== null) return announced;
  if (reader === null || size === null) return NEEDS_SIZE;
  return { ...announced, model: known.model ?? reader.place?.model ?? null, size };
}

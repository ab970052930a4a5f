import { matchesModel } from "../policy/model-pattern.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { servesApi, type Api } from "../http/api.ts";
import { GOOGLE_CONTENT, readGooglePath } from "../http/gemini/google-path.ts";
import { replaceModelInPath } from "./replace-model-in-path.ts";
import {
  FILE_CONTENT,
  findSocketRoute,
  ID,
  isLive,
  MODEL_PATH,
  type Route,
  type RouteMatch,
} from "../http/routes.ts";
import { isOfKnownCollection, type Creator } from "./creator.ts";
import { isAboutStored, isStorage } from "../policy/tool-policy.ts";
import { FORM, modelNotServed, unreadableModel } from "../refusals/models.ts";
import { findRoute, type ApiRequest } from "./resolve-route.ts";
import { asExtra } from "../plans/names.ts";
import {
  destinationAt,
  type Destination,
  type Destinations,
  type KeyDestination,
  type OwnDestination,
  type PlanDestination,
  type Settings,
} from "./settings.ts";
import type { Plan } from "../plans/plans.ts";

const NONE: readonly KeyChoice[] = [];

/** A request at the upstream to which it goes. */
interface AtUpstream {
  route: Route;
  /** Path and query at the upstream. */
  path: string;
  /** Those to ask next if this one does nothing with the request. Each has none of its own. */
  fallbacks: readonly KeyChoice[];
  /** The batch whose output is fetched; null for any other request. */
  batch: string | null;
}

/** A request goes to a configured upstream, with a key. */
export interface KeyChoice extends KeyDestination, AtUpstream {
  plan: null;
}

/** A request goes to a configured upstream, with the key that the tool sends. As for a plan, nothing of it goes to another one. */
interface OwnChoice extends OwnDestination, AtUpstream {
  plan: null;
}

/** Where a request goes that no plan pays. */
export type ConfiguredChoice = KeyChoice | OwnChoice;

/** A request goes to the service of a plan, with the tool's own login. Nothing of it leads to a key: what reads one takes a `KeyRef`. */
interface PlanChoice extends PlanDestination, AtUpstream {
  plan: Plan;
}

/** Where a request goes, and who pays. */
export type Choice = ConfiguredChoice | PlanChoice;

/** Returns where the request of a plan goes, whatever else is configured. */
export function choosePlan({ match, query }: ApiRequest, destination: PlanDestination): PlanChoice {
  const { upstream } = destination;
  const path = upstream.basePath + match.path + upstream.fixed.query.compose(query);
  return { ...destination, route: match.route, path, fallbacks: NONE, batch: null };
}

/** Returns what records have as the upstream and the key of a request, as far as that is known before there is a response. */
export function namePayer(choice: Choice): { upstream: string; key: string } {
  const { upstream, key } = choice;
  if (choice.plan === null || !choice.isExtra) return { upstream: upstream.recordedAs, key: key.name };
  return { upstream: asExtra(upstream.recordedAs), key: asExtra(key.name) };
}

/**
 * Chooses the upstream for a request: the first of those that the tool may use that has the route and, on routes whose requests
 * name a model, serves the model. Returns the refusal of a request that none of them serves.
 * @param model the one to request; null until it has been read: returns null if the choice depends on it
 */
export function chooseUpstream(
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
  model: string,
): ConfiguredChoice | Refusal;
export function chooseUpstream(
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
  model: null,
): ConfiguredChoice | Refusal | null;
export function chooseUpstream(
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
  model: string | null,
): ConfiguredChoice | Refusal | null {
  let hasRoute = false;
  for (const destination of preferred(request, destinations)) {
    const fit = judgeFit(destination, request, settings, model);
    if (fit === "no route") continue;
    hasRoute = true;
    if (fit === "other models") continue;
    if (fit === "depends on model") return null;
    if (destination.account === "own") return chooseOwn(destination, fit, request, model);
    const { fallback } = destination.upstream;
    const fallbacks =
      fallback.length > 0 && namesModel(fit.route) && !isLive(fit.route)
        ? findFallbacks(fallback, request, destinations, settings, model)
        : NONE;
    return fallbacks === null ? null : choose(destination, fit, request, model, fallbacks);
  }
  if (hasRoute && request.isForm) return unreadableModel(FORM);
  return hasRoute
    ? modelNotServed(model ?? modelInPath(request.match) ?? "", destinations)
    : refuseRoute(request, destinations);
}

/** Returns the first upstream of a tool that has the route, whatever models that serves; null where none has it. */
export function chooseByRoute(
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
): ConfiguredChoice | null {
  for (const destination of preferred(request, destinations)) {
    const match = matchAt(destination.upstream.table, request, settings);
    if (match === null) continue;
    if (destination.account === "own") return chooseOwn(destination, match, request, null);
    return choose(destination, match, request, null, NONE);
  }
  return null;
}

/**
 * Chooses the upstream of a WebSocket, which has one for as long as it is open; null if the model decides that. The first message of the Live
 * API names the model: where a single upstream has that route, the message goes there, and is judged by what it serves.
 */
export function chooseForSocket(
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
): ConfiguredChoice | Refusal | null {
  const choice = chooseUpstream(request, destinations, settings, null);
  if (choice !== null || !isLive(request.match.route)) return choice;
  const [only, ...others] = destinations.flatMap((destination) => {
    const match = matchAt(destination.upstream.table, request, settings);
    return match === null ? [] : [{ destination, match }];
  });
  if (only === undefined || others.length > 0) return null;
  const { destination, match } = only;
  return destination.account === "own"
    ? chooseOwn(destination, match, request, null)
    : choose(destination, match, request, null, NONE);
}

/**
 * Says whether an upstream serves a request: by which of its routes, or why not. One with `models` gets no form: whether that names
 * one of them is not judged.
 */
export function judgeFit(
  { upstream: { table, models } }: Destination,
  request: ApiRequest,
  settings: Settings,
  model: string | null,
): RouteMatch | "no route" | "other models" | "depends on model" {
  const match = matchAt(table, request, settings);
  if (match === null) return "no route";
  if (models === null) return match;
  const asked = model ?? modelInPath(match);
  if (asked === null && namesModel(match.route)) return request.isForm ? "other models" : "depends on model";
  return asked === null || matchesModel(models, asked) ? match : "other models";
}

/** Where several upstreams have a route that belongs to no API, those that serve the client's come first. */
function preferred(request: ApiRequest, destinations: Destinations): readonly Destination[] {
  if (destinations.length === 1 || request.match.route.api !== null) return destinations;
  const apis = apisOf(request);
  const serves = ({ upstream }: Destination) => apis.some((api) => servesApi(upstream, api));
  const first = destinations.filter(serves);
  return [...first, ...destinations.filter((one) => !serves(one))];
}

/** The APIs of a client on the routes that several share. */
function apisOf({ speaksMessages }: ApiRequest): readonly Api[] {
  return speaksMessages ? ["messages"] : ["responses", "chat"];
}

/** True for an upstream that would serve a request in place of another one, if it had the model. */
export function servesAlike(
  other: Destination["upstream"],
  chosen: Destination["upstream"],
  request: ApiRequest,
  settings: Settings,
): boolean {
  if (matchAt(other.table, request, settings) === null) return false;
  if (request.match.route.api !== null) return true;
  const apis = apisOf(request);
  const serves = (upstream: Destination["upstream"]) => apis.some((api) => servesApi(upstream, api));
  return serves(other) === serves(chosen);
}

/** Returns the named upstreams that can serve the request as well, in this order; null if that depends on the model. */
function findFallbacks(
  names: readonly string[],
  request: ApiRequest,
  destinations: Destinations,
  settings: Settings,
  model: string | null,
): KeyChoice[] | null {
  const found: KeyChoice[] = [];
  for (const name of names) {
    const destination = destinations.find(({ upstream }) => upstream.name === name);
    if (destination?.account !== "key") continue;
    const fit = judgeFit(destination, request, settings, model);
    if (fit === "depends on model") return null;
    if (typeof fit !== "string") found.push(choose(destination, fit, request, model, NONE));
  }
  return found;
}

/** True for a route whose requests name a model in their bodies. What is done to a stored response names none, nor do files and batches. */
export function namesModel(route: Route): boolean {
  return route.method === "POST" && route.dialect !== "none" && !isAboutStored(route) && !isStorage(route);
}

/** Returns the model that the path names; null on any other route. */
export function modelInPath({ route, path, named }: RouteMatch): string | null {
  if (named !== null) return named.model;
  return route.path === MODEL_PATH ? path.slice(MODEL_PATH.indexOf(ID)) : null;
}

/** Returns the id of the stored object that a request is about; null for any other request. */
export function storedId({ route, path }: RouteMatch): string | null {
  if (!isOfKnownCollection(route.path)) return null;
  if (route.api === "gemini") return readGooglePath(path)?.id ?? null;
  const [head = "", tail = ""] = route.path.split(ID);
  return path.slice(head.length, path.length - tail.length);
}

/**
 * Returns who created the stored object that a request is about, if that may decide where it goes, whether, or what it brings: null if it is
 * not known, and undefined before the ledger was asked.
 * @param mustOwn whether only its creator may do that to it
 */
export function findCreator(
  { match, speaksMessages }: ApiRequest,
  destinations: Destinations,
  { toolKeys }: Settings,
  creators: { find(id: string): Creator | null | undefined },
  mustOwn: boolean,
): Creator | null | undefined {
  const mayBeOutput = outputDialectOf(match.route) !== null && !speaksMessages;
  const isClear = destinations.length === 1 && toolKeys.size === 0 && !mustOwn && !mayBeOutput;
  const id = isClear ? null : storedId(match);
  return id === null ? null : creators.find(id);
}

/**
 * Returns a tool's upstreams with the one first that has what the creator stored. The key is the one with which it was stored only if the
 * same tool stored it, and the configuration still names that key: no tool gets at what is stored with the key of another.
 */
export function preferCreator(
  creator: Creator,
  tool: string,
  destinations: Destinations,
  { toolKeys }: Settings,
): Destinations {
  const first = destinations.find(({ upstream }) => upstream.recordedAs === creator.upstream);
  if (first === undefined) return destinations;
  const others = destinations.filter((one) => one !== first);
  if (first.account === "own") return [first, ...others];
  const { upstream } = first;
  const isNamed = creator.key === upstream.key || toolKeys.has(creator.key);
  const own = creator.tool === tool && isNamed ? destinationAt(upstream, creator.key) : first;
  return [own, ...others];
}

/** Returns the choice for a request, which brings the usage of a batch if it fetches the output of one from where the batch is. */
export function withOutput(choice: Choice, creator: Creator): Choice {
  const { route, upstream } = choice;
  const dialect = outputDialectOf(route);
  if (dialect === null || route.dialect !== "none" || creator.upstream !== upstream.recordedAs) return choice;
  const read: Route = { ...route, dialect, spend: "attach_by_response_id" };
  return { ...choice, route: read, batch: creator.batch };
}

/** Returns the format of the output of a batch on a route by which the content of a file is fetched; null for any other route. */
function outputDialectOf({ path }: Route): "batch_output" | "batch_responses" | null {
  if (path === FILE_CONTENT) return "batch_output";
  return GOOGLE_CONTENT.includes(path) ? "batch_responses" : null;
}

/** Returns a tool's upstreams in their order, for what is stored those with `models` last: neither a file nor a batch names a model. */
export function orderForStorage({ match }: ApiRequest, destinations: Destinations): Destinations {
  if (destinations.length === 1 || !isStorage(match.route)) return destinations;
  const [first, ...others] = [
    ...destinations.filter(({ upstream }) => upstream.models === null),
    ...destinations.filter(({ upstream }) => upstream.models !== null),
  ];
  return first === undefined ? destinations : [first, ...others];
}

/** Returns the route that a request has in an upstream's table. With one upstream, that is the one in which it was resolved. */
export function matchAt(
  table: Settings["table"],
  { method, path, match, speaksGoogle }: ApiRequest,
  settings: Settings,
): RouteMatch | null {
  if (table === settings.table) return match;
  if (isLive(match.route)) return findSocketRoute(table, path);
  const found = table.find(method, path, speaksGoogle);
  if (found === null || "allow" in found) return null;
  // `/v1/models` is Google's where an upstream has no other.
  return (found.route.api === "gemini") === (match.route.api === "gemini") ? found : null;
}

function choose(
  { account, upstream, key }: KeyDestination,
  match: RouteMatch,
  request: ApiRequest,
  model: string | null,
  fallbacks: readonly KeyChoice[],
): KeyChoice {
  const { route, path } = placeAt(upstream, match, request, model);
  return { account, upstream, key, plan: null, route, path, fallbacks, batch: null };
}

/** The tool's own key goes to this upstream or nowhere. Records tell the keys of tools apart. */
function chooseOwn(
  { account, upstream, key: { name } }: OwnDestination,
  match: RouteMatch,
  request: ApiRequest,
  model: string | null,
): OwnChoice {
  const { route, path } = placeAt(upstream, match, request, model);
  const key = { name: request.ownKey === null ? name : `${name}/${request.ownKey}` };
  return { account, upstream, key, plan: null, route, path, fallbacks: NONE, batch: null };
}

function placeAt(
  upstream: Destination["upstream"],
  match: RouteMatch,
  request: ApiRequest,
  model: string | null,
): Pick<AtUpstream, "route" | "path"> {
  const route = request.speaksMessages ? (match.route.asMessages ?? match.route) : match.route;
  const base = basePathOf(upstream, route);
  return { route, path: base + placeModel(match, model) + upstream.fixed.query.compose(request.query) };
}

/** APIs with paths of their own do not have what ends the base URLs of others. */
function basePathOf(
  { basePath, googleBasePath, bedrockBasePath }: Destination["upstream"],
  { api }: Route,
): string {
  if (api === "gemini") return googleBasePath;
  return api === "bedrock" ? bedrockBasePath : basePath;
}

/** Returns the path to request, with the model in it: the client's, or what an alias says. */
function placeModel({ path, named }: RouteMatch, model: string | null): string {
  if (named === null || model === null || model === named.model) return path;
  const replaced = replaceModelInPath(path, named, model);
  if (replaced === null) throw new Error("a model was lost");
  return replaced;
}

/** The refusal of the first upstream that knows the path with another method, else that of the first. */
function refuseRoute({ method, path }: ApiRequest, destinations: Destinations): Refusal {
  const refusals = destinations.flatMap(({ upstream }) => {
    const found = findRoute(upstream.table, method, path);
    return "code" in found ? [found] : [];
  });
  const other = refusals.find(({ code }) => code === "method_not_allowed") ?? refusals[0];
  if (other === undefined) throw new Error("a route was lost");
  return other;
}

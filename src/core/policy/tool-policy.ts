import type { Config } from "../config/config.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { modelNotAllowed, storageNotAllowed } from "../refusals/policy.ts";
import { BATCH_ACTIONS } from "../http/gemini/model-path.ts";
import { GOOGLE_MODEL, ID, type Route } from "../http/routes.ts";
import type { Brake } from "./brake.ts";
import { groupOfTool } from "./tool-access.ts";
import { matchesModel } from "./model-pattern.ts";

/** What the configuration says that a tool may do. */
export interface ToolPolicy {
  /** The models that the tool may request; null for all. */
  models: AllowedModels | null;
  /** Whether a budget may be for its requests. */
  hasBudgets: boolean;
  /** Whether a budget may refuse its requests. */
  isCapped: boolean;
  /** The brakes that its requests have to pass: its own, and its group's. */
  brakes: readonly Brake[];
}

/** The patterns of the models that a group allows its tools. */
interface AllowedModels {
  group: string;
  patterns: readonly string[];
}

/** A request as far as a policy judges it. */
interface JudgedRequest {
  tool: string;
  /** The model that the client has named; null where it names none. */
  asked: string | null;
  /** The model that the upstream will read: differs where that is an alias. */
  model: string | null;
}

/** Returns a tool's policy: the same object for tools that the same limits bind together. null for a tool that may do everything. */
export type PolicyLookup = (tool: string) => ToolPolicy | null;

/** Prepares the policies of all tools; null where every tool may do everything, so that requests need not ask. */
export function preparePolicies(config: Config): PolicyLookup | null {
  const shared = new Map<string, ToolPolicy | null>();
  const policyOf = (tool: string) => {
    const scope = scopeOf(config, tool);
    let policy = shared.get(scope);
    if (policy === undefined) shared.set(scope, (policy = createPolicy(config, tool)));
    return policy;
  };
  const named = new Map(Object.keys(config.tools).map((tool) => [tool, policyOf(tool)]));
  const others = policyOf("");
  if (others === null && [...named.values()].every((policy) => policy === null)) return null;
  return (tool) => {
    const policy = named.get(tool);
    return policy === undefined ? others : policy;
  };
}

/** Names whatever binds a tool and not all: its group, and itself if it has budgets or a brake. */
function scopeOf(config: Config, tool: string): string {
  const group = groupOfTool(config, tool)?.name ?? null;
  return JSON.stringify([group, hasOwnLimits(config, tool) ? tool : null]);
}

function createPolicy(config: Config, tool: string): ToolPolicy | null {
  const own = settingsOf(config, tool);
  const group = groupOfTool(config, tool);
  const patterns = group?.models ?? null;
  const models = group === null || patterns === null ? null : { group: group.name, patterns };
  const found = [...(own?.budgets ?? []), ...(group?.budgets ?? []), ...sharedBudgets(config)];
  const hasBudgets = found.length > 0;
  const isCapped = found.some(({ action }) => action === "refuse");
  const brakes: Brake[] = [];
  if (own?.brake != null) brakes.push({ scope: { kind: "tool", name: tool }, terms: own.brake });
  if (group?.brake != null) brakes.push({ scope: { kind: "group", name: group.name }, terms: group.brake });
  return models === null && !hasBudgets && brakes.length === 0
    ? null
    : { models, hasBudgets, isCapped, brakes };
}

function hasOwnLimits(config: Config, tool: string): boolean {
  const own = settingsOf(config, tool);
  return own !== null && (own.budgets.length > 0 || own.brake !== null);
}

/** Clients choose their tool names. */
function settingsOf({ tools }: Config, tool: string): Config["tools"][string] | null {
  return Object.hasOwn(tools, tool) ? (tools[tool] ?? null) : null;
}

/** The budgets that a request of any tool may have: those of its project and of its key, and those for all. */
function sharedBudgets({ projects, keys, budgets }: Config): Config["budgets"] {
  return [...Object.values(projects), ...Object.values(keys), { budgets }].flatMap((owner) => owner.budgets);
}

/** True when a tool may use a model, by the name that the upstream reads. */
export function allowsModel(policy: ToolPolicy | null, model: string): boolean {
  return policy?.models == null || isAllowed(policy.models, model);
}

function isAllowed({ patterns }: AllowedModels, model: string): boolean {
  return matchesModel(patterns, model);
}

/**
 * True for a route whose requests can spend, or that belongs to an API: they have to name a model. A route that the configuration
 * adds with the dialect "none" and `"spend": "never"` does neither. What is stored is judged by {@link judgeStorage}.
 */
export function mustNameModel(route: Route): boolean {
  const { method, dialect, spend } = route;
  const maySpend = method === "POST" && (dialect !== "none" || spend !== "never");
  return maySpend && !isAboutStored(route) && !isStorage(route);
}

/**
 * A segment that stands for what a service keeps, and may execute later: files, stores of files, uploads, and batches by either of their
 * names.
 */
const STORAGE = /\/(?:files|fileSearchStores|uploads|batch|batches)(?:\/|$)/i;

/** The routes that create a batch at Google. */
const GOOGLE_BATCHES: ReadonlySet<string> = new Set(
  BATCH_ACTIONS.map((action) => `${GOOGLE_MODEL}:${action}`),
);

/** True for a route for files, uploads or batches. They have no one model: a batch asks for many, and a file can become a batch. */
export function isStorage({ path }: Pick<Route, "path">): boolean {
  return STORAGE.test(path) || GOOGLE_BATCHES.has(path);
}

/** True where what a service stores is closed to a tool: its models or its spending are limited, and no route is allowed by name. */
function isClosed(policy: ToolPolicy | null, route: Route): boolean {
  if (policy === null || !isStorage(route) || route.forLimitedTools === true) return false;
  return policy.models !== null || policy.isCapped;
}

/** True for a batch that is judged by its requests, by their models and by what they may spend: one of Anthropic's, whose body has them. */
export function isJudgedBatch(policy: ToolPolicy, route: Route): boolean {
  const { method, path, dialect } = route;
  const isBatch = method === "POST" && path === "/messages/batches" && dialect === "batch";
  return isBatch && isClosed(policy, route);
}

/** What a limited tool may do to a batch that it has created. */
const OF_OWN_BATCH: ReadonlySet<string> = new Set([
  "GET /messages/batches/{id}",
  "GET /messages/batches/{id}/results",
  "POST /messages/batches/{id}/cancel",
]);

/** True for a request whose tool has to have created the batch that it is about. */
export function mustOwnBatch(policy: ToolPolicy | null, route: Route): boolean {
  return isClosed(policy, route) && OF_OWN_BATCH.has(`${route.method} ${route.path}`);
}

/**
 * Returns the refusal of a request for what a service stores, from a tool whose models or spending are limited: a file can ask for any
 * model, at any cost, and a list names what other tools store (SECURITY.md C14). null where the route is allowed by name, for a batch that
 * is judged by its requests, and for one of its own.
 * @param creator the tool that created the object; null if it is not known
 */
export function judgeStorage(
  policy: ToolPolicy | null,
  route: Route,
  tool: string,
  creator: string | null,
): Refusal | null {
  if (policy === null || !isClosed(policy, route) || isJudgedBatch(policy, route)) return null;
  if (creator === tool && mustOwnBatch(policy, route)) return null;
  return storageNotAllowed(route, tool, policy.models?.group ?? null);
}

/** True for a route that fetches, or ends, a response that another request created: it names that, and starts no model. */
export function isAboutStored({ path, spend }: Route): boolean {
  return spend === "attach_by_response_id" && path.includes(ID);
}

/** True for requests that a budget may refuse: those that start a model. What a fetch brings belongs to another request. */
export function isBudgeted(policy: ToolPolicy | null, { spend }: Route): boolean {
  return policy !== null && policy.hasBudgets && spend === "count";
}

/** True for requests that a brake may refuse: those that start a model. Neither free requests nor polling count. */
export function isBraked(policy: ToolPolicy | null, { spend }: Route): boolean {
  return policy !== null && policy.brakes.length > 0 && spend === "count";
}

/** True for requests whose body is compared with earlier ones. */
export function comparesBodies(policy: ToolPolicy | null, route: Route): boolean {
  return isBraked(policy, route) && policy?.brakes.some(({ terms }) => terms.same !== null) === true;
}

/** Returns the refusal of a request for a model that the tool's group does not allow; null for any other request. */
export function judgeModel(allowed: AllowedModels, { tool, asked, model }: JudgedRequest): Refusal | null {
  if (model === null || isAllowed(allowed, model)) return null;
  return modelNotAllowed(allowed, { tool, asked, model, entry: null });
}

/** Returns the first model of a batch that the tool's group does not allow, with its refusal; null if it allows all of them. */
export function judgeBatch(
  allowed: AllowedModels,
  tool: string,
  models: ReadonlyMap<string, number>,
): { model: string; refusal: Refusal } | null {
  for (const [model, entry] of models)
    if (!isAllowed(allowed, model))
      return { model, refusal: modelNotAllowed(allowed, { tool, asked: model, model, entry }) };
  return null;
}

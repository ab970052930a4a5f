import type { Config } from "../config/config.ts";
import { formatConfigPath } from "../config/problem.ts";
import type { Refusal } from "../http/refusal.ts";
import type { Route } from "../http/routes.ts";
import { toPrintable } from "../text/printable.ts";
import { groupOfTool } from "./groups.ts";
import { matchesModel } from "./model-pattern.ts";
import { refuseByPolicy } from "./policy-refusal.ts";

/** What the configuration says that a tool may do. */
export interface ToolPolicy {
  /** The name of the tool's group. */
  group: string;
  /** Patterns of the models that the tool may request. */
  models: readonly string[];
}

/** A request as far as a policy judges it. */
export interface JudgedRequest {
  tool: string;
  /** The model that the client has named; null where it names none. */
  asked: string | null;
  /** The model that the upstream will read: differs where that is an alias. */
  model: string | null;
}

/** Returns a tool's policy, the same object each time; null for a tool that may do everything. */
export type PolicyLookup = (tool: string) => ToolPolicy | null;

/** Prepares the policies of all tools; null where every tool may do everything, so that requests need not ask. */
export function preparePolicies(config: Config): PolicyLookup | null {
  const ofGroups = new Map(
    Object.values(config.groups).flatMap(({ name, models }) =>
      models === null ? [] : [[name, { group: name, models }]],
    ),
  );
  const policyOf = (tool: string) => ofGroups.get(groupOfTool(config, tool)?.name ?? "") ?? null;
  const named = new Map(Object.keys(config.tools).map((tool) => [tool, policyOf(tool)]));
  const others = policyOf("");
  if (others === null && [...named.values()].every((policy) => policy === null)) return null;
  return (tool) => {
    const policy = named.get(tool);
    return policy === undefined ? others : policy;
  };
}

/** True when a tool may use a model, by the name that the upstream reads. */
export function allowsModel(policy: ToolPolicy | null, model: string): boolean {
  return policy === null || matchesModel(policy.models, model);
}

/**
 * True for a route whose requests can spend, or that belongs to an API: they have to name a model. A route that the configuration
 * adds with the dialect "none" and `"spend": "never"` does neither.
 */
export function mustNameModel({ method, dialect, spend }: Route): boolean {
  return method === "POST" && (dialect !== "none" || spend !== "never");
}

/** Returns the refusal of a request for a model that the tool's group does not allow; null for any other request. */
export function judgeModel(policy: ToolPolicy, { tool, asked, model }: JudgedRequest): Refusal | null {
  if (model === null || allowsModel(policy, model)) return null;
  const { group, models } = policy;
  const wish = asked === model ? quote(model) : `${quote(asked ?? "")}, an alias of ${quote(model)}`;
  return refuseByPolicy({
    code: "model_not_allowed",
    problems: [
      `group ${group} does not allow the model`,
      `group ${group} forbids the model`,
      "its group forbids the model",
    ],
    command: "tollkeeper config edit",
    details: `${formatConfigPath(["groups", group, "models"])} allows ${listPatterns(models)}; ${tool} asked for ${wish}`,
  });
}

const MAX_LISTED = 12;

function listPatterns(models: readonly string[]): string {
  const shown = models.slice(0, MAX_LISTED).join(", ");
  return models.length > MAX_LISTED ? `${shown} and ${models.length - MAX_LISTED} more` : shown;
}

function quote(model: string): string {
  return toPrintable(model).slice(0, 100);
}

import assert from "node:assert/strict";
import * as fc from "fast-check";
import { defaultConfig } from "../../src/core/config/config.ts";
import { judgeModel, preparePolicies } from "../../src/core/policy/tool-policy.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { property, type Property } from "./property.ts";

const TOOLS = ["codex", "zed", "constructor", "pi"];
const GROUPS = ["small", "night", "toString"];

const model = fc.stringMatching(/^[ab.-]{1,5}$/);
const pattern = fc.stringMatching(/^[ab.*-]{1,5}$/);
const brake = fc.option(fc.constantFrom("gentle", { concurrent: 3 }), { nil: undefined });
const budgets = fc.constantFrom([], [{ usd: 1, per: "day" }]);

/** What a configuration file says of groups and tools. */
const file = fc.record({
  groups: fc.dictionary(
    fc.constantFrom(...GROUPS),
    fc.record({ models: fc.option(fc.array(pattern, { minLength: 1, maxLength: 3 })), budgets, brake }),
  ),
  tools: fc.dictionary(
    fc.constantFrom(...TOOLS, "*"),
    fc.record({ group: fc.option(fc.constantFrom(...GROUPS)), budgets, brake }),
  ),
});
type File = typeof file extends fc.Arbitrary<infer Value> ? Value : never;

/** Drops groups that do not exist, and what `"*"` cannot have: files with these are not valid. */
function toValid({ groups, tools }: File): { groups: File["groups"]; tools: Record<string, object> } {
  const kept = Object.entries(tools).map(([name, { group, ...rest }]) => {
    const named = group !== null && Object.hasOwn(groups, group) ? group : null;
    return [name, name === "*" ? { group: named } : { group: named, ...rest }] as const;
  });
  return { groups, tools: Object.fromEntries(kept) };
}

/** What a tool may do, read from the file as a person would. */
function readReference({ groups, tools }: File, tool: string) {
  const own = tool !== "*" && Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  const others = Object.hasOwn(tools, "*") ? tools["*"] : undefined;
  const named = [own?.group, others?.group].find((name) => name != null && Object.hasOwn(groups, name));
  const group = named == null ? undefined : groups[named];
  return {
    allows: (wanted: string) => group?.models?.some((each) => globToRegExp(each).test(wanted)) ?? true,
    hasBudgets: (own?.budgets.length ?? 0) + (group?.budgets.length ?? 0) > 0,
    brakes: [own, group].filter((owner) => owner?.brake !== undefined).length,
  };
}

function globToRegExp(glob: string): RegExp {
  return new RegExp(`^${glob.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
}

/** Groups against a reference that reads the file again for each question. */
export const GROUP_RULES: readonly Property[] = [
  property(
    "groups: a tool may do what its group says, by any configuration",
    { batch: 1_500 },
    fc.property(
      file,
      fc.constantFrom(...TOOLS, "*", "unheard-of", "__proto__"),
      model,
      (given, tool, wanted) => {
        const valid = toValid(given);
        const config = { ...defaultConfig, ...rulesForTools(valid) };
        const policy = preparePolicies(config)?.(tool) ?? null;
        const expected = readReference({ ...given, tools: valid.tools as File["tools"] }, tool);
        const refusal =
          policy?.models == null ? null : judgeModel(policy.models, { tool, asked: wanted, model: wanted });
        assert.equal(refusal === null, expected.allows(wanted));
        assert.equal(policy?.hasBudgets ?? false, expected.hasBudgets);
        assert.equal(policy?.brakes.length ?? 0, expected.brakes);
      },
    ),
  ),
];

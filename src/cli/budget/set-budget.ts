import { getConfigValue } from "../../adapters/config-file.ts";
import { budgetsOf, type Budget } from "../../core/budget/budget.ts";
import type { ConfigPath } from "../../core/config/config-path.ts";
import { isObject } from "../../core/json.ts";
import { readTarget } from "../../connect/edit/target-file.ts";
import { planChanges } from "../config/change-value.ts";
import { TEMPLATE, writeSchema } from "../config/edit-file.ts";
import { readLayers } from "../config/explain-value.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** Whom a budget is for, as options of the command say it. */
interface Owner {
  tool?: string | undefined;
  group?: string | undefined;
  project?: string | undefined;
  key?: string | undefined;
  all: boolean;
}

/** A budget as the configuration file has it. */
interface BudgetEntry {
  usd?: number;
  tokens?: number;
  class?: string;
  per?: string;
  rolling?: number;
  action?: string;
}

/**
 * Writes a budget into a configuration file, and keeps the rest, comments included. One that counts alike is changed. Returns the
 * budget. @throws Failure when the configuration would not be valid
 */
export async function setBudget(file: string, owner: Owner, entry: BudgetEntry): Promise<Budget> {
  const path = pathOf(owner);
  const text = readTarget(file).existing?.text ?? "";
  const planned = await planChanges(file, await changesOf(file, text, path, entry), TEMPLATE);
  planned.write();
  await writeSchema(file);
  const written = budgetsOf(planned.config).find((budget) => isFor(budget, owner) && isEntry(budget, entry));
  if (written === undefined) throw new Error("the budget that was written is in the configuration");
  return written;
}

/** A list of the user's replaces the managed one as a whole, so it begins with what that one has. */
async function changesOf(
  file: string,
  text: string,
  path: ConfigPath,
  entry: BudgetEntry,
): Promise<[ConfigPath, unknown][]> {
  const own = getConfigValue(text, path);
  const found = own ?? (await readLayers(file)).explain(path)?.value;
  const existing: unknown[] = Array.isArray(found) ? found : [];
  const same = existing.findIndex((other) => isObject(other) && countsAlike(other, entry));
  const change = changeOf(path, existing, same, entry);
  return own === undefined && existing.length > 0 ? [[path, existing], change] : [change];
}

/** Entries are changed one by one, so that comments between the others stay. */
function changeOf(
  path: ConfigPath,
  existing: readonly unknown[],
  same: number,
  entry: BudgetEntry,
): [ConfigPath, unknown] {
  if (existing.length === 0) return [path, [entry]];
  if (same < 0) return [[...path, existing.length], entry];
  return [[...path, same], { ...(existing[same] as object), ...entry }];
}

function pathOf({ tool, group, project, key, all }: Owner): ConfigPath {
  const owners = Object.entries({ tools: tool, groups: group, projects: project, keys: key }).filter(
    ([, name]) => name !== undefined,
  );
  const [owner, ...others] = owners;
  if (others.length > 0 || (owner !== undefined) === all)
    throw new WrongUsage("name one that the budget is for", "a tool, or --group, --project, --key or --all");
  return owner === undefined ? ["budgets"] : [owner[0], owner[1] ?? "", "budgets"];
}

/** True for budgets of which one owner can have only one: of the same unit and window. */
function countsAlike(other: Record<string, unknown>, { usd, class: tokenClass, per, rolling }: BudgetEntry) {
  const isMoney = (other["usd"] === undefined) === (usd === undefined);
  return isMoney && other["class"] === tokenClass && other["per"] === per && other["rolling"] === rolling;
}

function isFor({ scope }: Budget, { tool, group, key, all }: Owner): boolean {
  if (scope.kind === "all") return all;
  // The configuration writes a project's directory in full.
  return scope.kind === "project" || scope.name === (tool ?? group ?? key);
}

function isEntry({ limit, window }: Budget, { usd, tokens, per, rolling }: BudgetEntry): boolean {
  const isLimit = "usd" in limit ? limit.usd === usd : limit.tokens === tokens;
  return isLimit && ("per" in window ? window.per === per : window.rolling === rolling);
}

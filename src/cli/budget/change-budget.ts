import { isDeepStrictEqual } from "node:util";
import { budgetsOf, describeBudget, type Budget } from "../../core/budget/budget.ts";
import type { ConfigPath } from "../../core/config/config-path.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { isObject } from "../../core/json.ts";
import {
  makeChange,
  planChanges,
  suggestNamesake,
  valueIn,
  type ValueChange,
} from "../config/change-value.ts";
import { TEMPLATE } from "../config/edit-file.ts";
import { readLayers } from "../config/explain-value.ts";
import { commandAbout, readIfValid } from "../load-config.ts";
import { note } from "../terminal/console.ts";
import { WrongUsage } from "../wrong-usage.ts";
import { findOwner, ownerOf, requireOwner, type Owner, type OwnerArguments } from "./owner.ts";

/** A budget as the configuration file has it. */
export interface BudgetEntry {
  usd?: number;
  tokens?: number;
  class?: string;
  per?: string;
  rolling?: number;
  action?: string;
}

const EXAMPLE = "type for example: tollkeeper budget set codex --usd 20 --per day";

/**
 * Writes a budget into a configuration file, and keeps the rest, comments included. One that counts alike is changed.
 * @throws WrongUsage for what is no budget; Failure for an owner that is not known
 */
export async function setBudget(file: string, args: OwnerArguments, entry: BudgetEntry): Promise<void> {
  ownerOf(args);
  requireBudget(entry);
  const owner = await requireOwner(args, await readIfValid(file));
  const change = await planChanges(file, await changesOf(file, owner, entry), TEMPLATE);
  const budget = findBudgetOf(change.config, owner, entry);
  if (budget === undefined) throw new Error("the budget that was written is in the configuration");
  const remove = commandAbout(file, ["budget", "remove", ...owner.words]);
  const warned = budget.action === "warn" ? ", and only warns" : "";
  await makeChange(
    file,
    change,
    `The budget is ${describeBudget(budget)}${warned}, set in ${file}\nTo remove it, type: ${remove}`,
  );
  if (budget.amount === 0n)
    note("note: a limit of 0 refuses every request; a shell turns an unquoted $20 into 0, so type 20");
}

/** Says in the words of the command what the entry lacks. */
function requireBudget({ usd, tokens, class: tokenClass, per, rolling }: BudgetEntry): void {
  if (usd === undefined && tokens === undefined)
    throw new WrongUsage("--usd or --tokens is missing", EXAMPLE);
  if (usd !== undefined && tokens !== undefined)
    throw new WrongUsage(
      "--usd and --tokens cannot be used together",
      "set two budgets, one after the other",
    );
  if (per === undefined && rolling === undefined)
    throw new WrongUsage("--per or --rolling is missing", EXAMPLE);
  if (per !== undefined && rolling !== undefined)
    throw new WrongUsage(
      "--per and --rolling cannot be used together",
      "set two budgets, one after the other",
    );
  if (tokenClass !== undefined && tokens === undefined)
    throw new WrongUsage("--class belongs to --tokens: dollars have no class", EXAMPLE);
}

/** A list of the user's replaces the managed one as a whole, so it begins with what that one has. */
async function changesOf(file: string, { path: of }: Owner, entry: BudgetEntry): Promise<ValueChange[]> {
  const path = [...of, "budgets"];
  const own = valueIn(file, path);
  const found = own ?? (await readLayers(file)).explain(path)?.value;
  const existing: unknown[] = Array.isArray(found) ? found : [];
  const same = existing.findIndex((other) => isObject(other) && countsAlike(other, entry));
  const changes = changesIn(path, existing, same, entry);
  return own === undefined && existing.length > 0 ? [[path, existing], ...changes] : changes;
}

/** Entries, and the members of one that counts alike, are changed one by one, so that comments between the others stay. */
function changesIn(
  path: ConfigPath,
  existing: readonly unknown[],
  same: number,
  entry: BudgetEntry,
): ValueChange[] {
  if (existing.length === 0) return [[path, [entry]]];
  if (same < 0) return [[[...path, existing.length], entry]];
  const former = existing[same] as Record<string, unknown>;
  return Object.entries(entry)
    .filter(([name, value]) => former[name] !== value)
    .map(([name, value]) => [[...path, same, name], value]);
}

/** True for budgets of which one owner can have only one: of the same unit and window. */
function countsAlike(other: Record<string, unknown>, { usd, class: tokenClass, per, rolling }: BudgetEntry) {
  const isMoney = (other["usd"] === undefined) === (usd === undefined);
  return isMoney && other["class"] === tokenClass && other["per"] === per && other["rolling"] === rolling;
}

function findBudgetOf(
  config: Config,
  { path: [section, name] }: Owner,
  entry: BudgetEntry,
): Budget | undefined {
  const { usd, tokens, class: tokenClass = null, per, rolling } = entry;
  return budgetsOf(config).find(({ scope, limit, window }) => {
    // The configuration writes a project's directory in full.
    const isOwner =
      scope.kind === "all"
        ? section === undefined
        : section === `${scope.kind}s` && (scope.kind === "project" || scope.name === name);
    const isLimit =
      "usd" in limit ? limit.usd === usd : limit.tokens === tokens && limit.class === tokenClass;
    return isOwner && isLimit && ("per" in window ? window.per === per : window.rolling === rolling);
  });
}

/**
 * Removes a budget from a configuration file. `entry` is what the budget has; without any of it, the only one of the owner is meant.
 * @throws Failure when it is none, or one of several
 */
export async function removeBudget(file: string, args: OwnerArguments, entry: BudgetEntry): Promise<void> {
  const owner = findOwner(args, await readIfValid(file));
  const path = [...owner.path, "budgets"];
  const own = valueIn(file, path);
  const existing = Array.isArray(own) ? own.filter(isObject) : [];
  const meant = existing.filter((other) => isMeant(other, entry));
  const [only, ...others] = meant;
  if (only === undefined || others.length > 0) throw await unclear(file, owner, existing, meant);
  const index = (own as unknown[]).indexOf(only);
  const budget = findBudgetOf(await readIfValid(file), owner, only);
  const name =
    budget === undefined ? `${optionsOf(only).join(" ")} of ${nameOwner(owner)}` : describeBudget(budget);
  // A list that says what the managed file says is the copy that setting a budget made.
  const rest = (own as unknown[]).filter((_, at) => at !== index);
  const isCopy = isDeepStrictEqual(rest, (await readLayers(file)).managedValue(path));
  const change = await planChanges(file, [[isCopy ? path : [...path, index], undefined]], TEMPLATE);
  await makeChange(file, change, `The budget ${name} is removed from ${file}`);
}

function isMeant(other: Record<string, unknown>, entry: BudgetEntry): boolean {
  return Object.entries(entry).every(([name, value]) => other[name] === value);
}

async function unclear(
  file: string,
  owner: Owner,
  existing: readonly Record<string, unknown>[],
  meant: readonly Record<string, unknown>[],
): Promise<Failure> {
  const whom = nameOwner(owner);
  if (existing.length === 0) {
    const path = [...owner.path, "budgets"];
    const { source } = (await readLayers(file)).explain(path) ?? {};
    const hint =
      source === "managed"
        ? "the managed file sets one, which only the administrator of this machine can remove"
        : `to see all budgets, type: ${commandAbout(file, ["budget"])}`;
    return new Failure(`${file} sets no budget for ${whom}${suggestNamesake(file, path)}`, hint);
  }
  const candidates = meant.length > 0 ? meant : existing;
  const commands = candidates.map((one) =>
    commandAbout(file, ["budget", "remove", ...owner.words, ...optionsOf(one)]),
  );
  const problem = meant.length > 0 ? `${whom} has several budgets` : `${whom} has no such budget`;
  return new Failure(
    problem,
    commands.length === 1
      ? `type: ${commands.join("")}`
      : `type one of these:\n      ${commands.join("\n      ")}`,
  );
}

function nameOwner({ path: [section, name] }: Owner): string {
  return section === undefined ? "all tools together" : `${String(section).slice(0, -1)} ${name}`;
}

/** Returns the options that set a budget: `--usd 20 --per day`. */
function optionsOf(entry: Record<string, unknown>): string[] {
  return ["usd", "tokens", "class", "per", "rolling"]
    .filter((name) => entry[name] !== undefined)
    .flatMap((name) => [`--${name}`, String(entry[name])]);
}

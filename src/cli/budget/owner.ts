import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Config } from "../../core/config/config.ts";
import type { ConfigPath } from "../../core/config/config-path.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { Failure } from "../../core/failure.ts";
import { listConfiguredKeys } from "../../core/policy/configured-keys.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { nameOfTool, requireToolNotGroup } from "../known-tools.ts";
import { onlyOneOf, WrongUsage } from "../wrong-usage.ts";

/** Whom a budget or a brake is for, as arguments say it. */
export interface OwnerArguments {
  tool?: string | undefined;
  group?: string | undefined;
  project?: string | undefined;
  key?: string | undefined;
  all?: boolean | undefined;
  /** Accept a name that nothing knows yet. */
  new?: boolean | undefined;
}

/** Whom a rule is for: where the configuration has it, and as arguments say it. */
export interface Owner {
  /** The path of its entry: `tools.codex`, or none for all. */
  path: ConfigPath;
  words: readonly string[];
}

/**
 * Finds whom a rule is for, and requires that it exists: a mistyped name would make a rule that applies to no tool.
 * @throws WrongUsage unless exactly one is named; Failure for one that is not known
 */
export async function requireOwner(args: OwnerArguments, config: Config): Promise<Owner> {
  const { group, project, key } = args;
  const owner = ownerOf(args);
  const [section, tool] = owner.path;
  const isNew = args.new === true;
  if (section === "tools") {
    const name = await requireToolNotGroup(String(tool), config, isNew);
    return { path: ["tools", name], words: [name] };
  }
  if (group !== undefined) requireGroup(group, config);
  if (isNew) return owner;
  if (key !== undefined) requireKey(key, config);
  if (project !== undefined) requireDirectory(project);
  return owner;
}

/** Returns whom a rule is for without asking whether it exists, to take the rule back. A tool may be typed as its program. @throws WrongUsage unless exactly one is named */
export function findOwner(args: OwnerArguments, config: Config): Owner {
  const owner = ownerOf(args);
  const [section, tool] = owner.path;
  return section === "tools" ? ownerOf({ tool: nameOfTool(String(tool), config) }) : owner;
}

/** Returns whom arguments name, as they name it. `all` in place of a tool is `--all`. @throws WrongUsage unless exactly one is named */
export function ownerOf({ tool, group, project, key, all: isAll = false }: OwnerArguments): Owner {
  if (tool === "all" && !isAll) return ownerOf({ group, project, key, all: true });
  const named = Object.entries({ tools: tool, groups: group, projects: project, keys: key }).flatMap(
    ([section, name]) => (name === undefined ? [] : [[section, name] as const]),
  );
  const [owner, ...others] = named;
  if (others.length > 0 || (owner !== undefined && isAll))
    throw onlyOneOf([
      ...named.map(([section, name]) => (section === "tools" ? `"${name}"` : `--${section.slice(0, -1)}`)),
      ...(isAll ? ["--all"] : []),
    ]);
  if (owner === undefined && !isAll)
    throw new WrongUsage(
      "a tool, group, project or key is missing",
      "name a tool, or add one of: --group GROUP, --project DIRECTORY, --key KEY, --all",
    );
  if (owner === undefined) return { path: [], words: ["--all"] };
  const [section, name] = owner;
  return { path: [section, name], words: section === "tools" ? [name] : [`--${section.slice(0, -1)}`, name] };
}

/** Requires that the configuration has a group. @throws Failure, naming the nearest */
export function requireGroup(group: string, { groups }: Pick<Config, "groups">): void {
  if (Object.hasOwn(groups, group)) return;
  const nearest = findNearest(group, Object.keys(groups));
  const guess = nearest === null ? "" : `; did you mean "${nearest}"?`;
  throw new Failure(
    `no group is called "${sanitizeText(group)}"${guess}`,
    `to make it, type: ${formatCommand(["tollkeeper", "group", "set", sanitizeText(group), "--models", "PATTERN,..."])}`,
  );
}

function requireKey(key: string, config: Config): void {
  const known = [
    ...new Set(listConfiguredKeys(config).map(({ ref }) => ref.name)),
    ...Object.keys(config.keys),
  ];
  if (known.includes(key)) return;
  const nearest = findNearest(key, known);
  const guess = nearest === null ? "" : `; did you mean "${nearest}"?`;
  throw new Failure(
    `the configuration names no key "${sanitizeText(key)}"${guess}`,
    `to see all keys, type: tollkeeper key list; if you will add it later, add: --new`,
  );
}

function requireDirectory(project: string): void {
  const path = resolve(project.replace(/^~(?=\/|$)/, homedir()));
  if (existsSync(path) && statSync(path).isDirectory()) return;
  throw new Failure(`${sanitizeText(project)} is not a directory`, "if you will create it later, add: --new");
}

import { checkName, checkToolName } from "../../../core/config/names.ts";
import type { PauseScope } from "../../../core/policy/pauses.ts";
import type { Argv } from "../../command-line.ts";
import { requireToolNotGroup } from "../../known-tools.ts";
import { readIfValid } from "../../load-config.ts";
import { onlyOneOf, WrongUsage } from "../../wrong-usage.ts";

/** What is to be paused or resumed, as arguments say it. */
interface ScopeArguments {
  tool?: string | undefined;
  group?: string | undefined;
  all: boolean;
}

/** Adds the arguments of `pause` and `resume`. */
export function scopeOptions(yargs: Argv<object>, verb: "pause" | "resume") {
  return yargs
    .positional("tool", { type: "string", describe: `Tool to ${verb}, or "all"` })
    .option("group", { type: "string", describe: `Group to ${verb}` })
    .option("all", {
      type: "boolean",
      default: false,
      describe: `${verb === "pause" ? "Pause" : "Resume"} everything`,
    })
    .check(({ tool, group }) => {
      if (tool !== undefined) return checkToolName(tool) ?? true;
      return group === undefined ? true : (checkName(group) ?? true);
    });
}

/**
 * Requires that a tool is known: a mistyped name would seem to be paused or resumed. The daemon knows the groups.
 * @param new null for a command without that option
 * @throws Failure, naming the nearest, or saying that it is a group
 */
export async function requireScope(
  scope: PauseScope,
  { config: file, new: isNew }: { config?: string | undefined; new: boolean | null },
): Promise<PauseScope> {
  if (scope.kind !== "tool") return scope;
  const name = await requireToolNotGroup(scope.name, await readIfValid(file), isNew);
  return name === scope.name ? scope : { ...scope, name };
}

/** @throws WrongUsage unless it is exactly one */
export function scopeOf({ tool, group, all }: ScopeArguments, verb: "pause" | "resume"): PauseScope {
  // Whoever stops everything in a hurry types it so.
  if (tool === "all" && group === undefined && !all) return { kind: "all" };
  const given = [
    ...(tool === undefined ? [] : [`"${tool}"`]),
    ...(group === undefined ? [] : ["--group"]),
    ...(all ? ["--all"] : []),
  ];
  if (given.length > 1) throw onlyOneOf(given);
  if (given.length === 0)
    throw new WrongUsage(
      "name a tool, or one of --group and --all",
      `type for example: tollkeeper ${verb} codex`,
    );
  if (tool !== undefined) return { kind: "tool", name: tool };
  return group === undefined ? { kind: "all" } : { kind: "group", name: group };
}

/** Returns the query of a command on the control socket. */
export function toQuery(scope: PauseScope): Record<string, string> {
  return scope.kind === "all" ? {} : { [scope.kind]: scope.name };
}

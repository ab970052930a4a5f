import { checkName, OTHERS } from "../../../core/config/names.ts";
import { formatConfigPath, sanitizeText } from "../../../core/config/problem.ts";
import { Failure } from "../../../core/failure.ts";
import { listToolsOf } from "../../../core/policy/tool-access.ts";
import { requireGroup } from "../../budget/owner.ts";
import type { Argv } from "../../command-line.ts";
import { reportOptions, type Command, type ReportArguments } from "../../command.ts";
import {
  makeChange,
  planChanges,
  removeValue,
  valueIn,
  type ValueChange,
} from "../../config/change-value.ts";
import { TEMPLATE } from "../../config/edit-file.ts";
import { describeGroup } from "../../config/format-groups.ts";
import { noteSimilarModels } from "../../known-models.ts";
import { nameOfTool, newToolOption, requireKnownTool } from "../../known-tools.ts";
import { commandAbout, loadConfig, readIfValid, resolveConfigPath } from "../../load-config.ts";
import { noteOtherConfig } from "../../note-other-config.ts";
import { hasColours, print, printJson, printStyled } from "../../terminal/console.ts";
import { WrongUsage } from "../../wrong-usage.ts";
import { formatGroups } from "./format-rules.ts";

/** `tollkeeper group`: lists groups, and changes them and which tool is in which. */
export const command: Command<ReportArguments> = {
  builder: (yargs) =>
    reportOptions(yargs)
      .command("list", "List the groups with their models, keys and tools", reportOptions, list)
      .command(
        "set <group>",
        "Make a group, or change the models that its tools may request, or their key",
        setOptions,
        ({ config, group, models, key }) => set(resolveConfigPath(config), group, models, key),
      )
      .command(
        "use <tool> <group>",
        'Put a tool into a group; "*" stands for every tool that names none',
        useOptions,
        ({ config, tool, group, new: isNew }) => use(resolveConfigPath(config), tool, group, isNew),
      )
      .command("leave <tool>", "Take a tool out of its group", leaveOptions, ({ config, tool }) =>
        leave(resolveConfigPath(config), tool),
      )
      .command("remove <group>", "Remove a group that no tool is in", groupArgument, ({ config, group }) =>
        remove(resolveConfigPath(config), group),
      ),
  handler: list,
};

function groupArgument(yargs: Argv<object>) {
  return yargs
    .option("config", { type: "string" })
    .positional("group", { type: "string", demandOption: true, describe: "Name of the group" })
    .check(({ group }) => checkName(group) ?? true);
}

function setOptions(yargs: Argv<object>) {
  return groupArgument(yargs)
    .option("models", {
      type: "string",
      describe:
        'Patterns of the models, with commas between them, such as "gpt-5*,claude-*"; "all" for no limit',
    })
    .option("key", { type: "string", describe: "Key for tools of the group that have no key of their own" });
}

function leaveOptions(yargs: Argv<object>) {
  return yargs
    .option("config", { type: "string" })
    .positional("tool", { type: "string", demandOption: true, describe: "Name of the tool" });
}

function useOptions(yargs: Argv<object>) {
  return newToolOption(leaveOptions(yargs)).positional("group", {
    type: "string",
    demandOption: true,
    describe: "Name of the group",
  });
}

async function list({ config: file, json }: ReportArguments): Promise<void> {
  const config = await loadConfig(file);
  await noteOtherConfig(file);
  const groups = Object.values(config.groups);
  if (json) return printJson(groups.map((group) => ({ ...group, tools: listToolsOf(config, group.name) })));
  if (groups.length === 0)
    print(
      "There is no group. To make one, type for example:\n  tollkeeper group set small --models '*-mini,claude-haiku-*'",
    );
  else {
    const view = { width: process.stdout.columns || Infinity, isColoured: hasColours() };
    printStyled(formatGroups(config, groups, view));
  }
}

async function set(
  file: string,
  group: string,
  models: string | undefined,
  key: string | undefined,
): Promise<void> {
  const path = ["groups", group];
  const changes: ValueChange[] = [];
  if (models !== undefined) changes.push([[...path, "models"], patternsOf(models)]);
  if (key !== undefined) changes.push([[...path, "key"], key]);
  const isNew = valueIn(file, path) === undefined;
  const hasValue = changes.some(([, value]) => value !== undefined);
  const change = await planChanges(file, isNew && !hasValue ? [[path, {}]] : changes, TEMPLATE);
  const made = change.config.groups[group];
  if (made === undefined) throw new Error("the group that was written is in the configuration");
  const commands = isNew
    ? [
        `To put a tool into it, type: ${commandAbout(file, ["group", "use", "TOOL", group])}`,
        `To remove it, type: ${commandAbout(file, ["group", "remove", group])}`,
      ]
    : [];
  // That no tool is in a new group yet is what the next command is for.
  const warnings = isNew
    ? change.warnings.filter(({ path: of }) => of !== formatConfigPath(path))
    : change.warnings;
  await makeChange(
    file,
    { ...change, warnings },
    [`${describeGroup(change.config, made)}, set in ${file}`, ...commands].join("\n"),
  );
  if (models !== undefined) await noteSimilarModels(patternsOf(models) ?? [], file);
}

/** Returns the patterns; undefined for no limit. */
function patternsOf(text: string): string[] | undefined {
  const patterns = text.split(/[\s,]+/).filter((pattern) => pattern !== "");
  if (patterns.length === 0)
    throw new WrongUsage(
      "--models names no model",
      "type for example: --models 'gpt-5*,claude-*'; for no limit: --models all",
    );
  return patterns.length === 1 && patterns[0] === "all" ? undefined : patterns;
}

async function use(file: string, word: string, group: string, isNew: boolean): Promise<void> {
  const config = await readIfValid(file);
  if (!Object.hasOwn(config.groups, group) && Object.hasOwn(config.groups, word))
    throw new WrongUsage(
      `"${word}" is the group, and the tool comes before it`,
      `type: ${commandAbout(file, ["group", "use", sanitizeText(group), word])}`,
    );
  requireGroup(group, config);
  const tool = word === OTHERS ? OTHERS : await requireKnownTool(word, config, isNew);
  const change = await planChanges(file, [[["tools", tool, "group"], group]], TEMPLATE);
  const undo = commandAbout(file, ["group", "leave", tool]);
  await makeChange(
    file,
    change,
    `${nameOf(tool)} is in group ${group}, set in ${file}\nTo take it out, type: ${undo}`,
  );
}

async function leave(file: string, word: string): Promise<void> {
  const config = await readIfValid(file);
  const tool = word === OTHERS ? OTHERS : nameOfTool(word, config);
  const path = ["tools", tool, "group"];
  const group = valueIn(file, path);
  const others = config.otherTools.group;
  const left =
    tool !== OTHERS && others !== null
      ? `; like every tool that names none, it is now in group ${others}`
      : "";
  await removeValue(file, path, {
    what: `a group for ${nameOf(tool)}`,
    done: `${nameOf(tool)} is no longer in group ${String(group)}${left}`,
    look: look(file),
  });
}

function look(file: string): string {
  return `to see all groups and their tools, type: ${commandAbout(file, ["group"])}`;
}

function nameOf(tool: string): string {
  return tool === OTHERS ? "Every tool that names no group" : tool;
}

async function remove(file: string, group: string): Promise<void> {
  const config = await readIfValid(file);
  const users = listToolsOf(config, group).filter(
    (tool) => valueIn(file, ["tools", tool, "group"]) === group,
  );
  if (users.length > 0)
    throw new Failure(
      `group ${group} has tools: ${users.join(", ")}`,
      users
        .map((tool) => `to take ${tool} out, type: ${commandAbout(file, ["group", "leave", tool])}`)
        .join("; "),
    );
  await removeValue(file, ["groups", group], {
    what: `group ${group}`,
    done: `Group ${group} is removed from ${file}`,
    look: look(file),
  });
}

import type { ConfigPath } from "../../../core/config/config-path.ts";
import { sanitizeText } from "../../../core/config/problem.ts";
import { Failure } from "../../../core/failure.ts";
import { isObject } from "../../../core/json.ts";
import { findNearest } from "../../../core/text/did-you-mean.ts";
import type { Argv } from "../../command-line.ts";
import { reportOptions, type Command, type ReportArguments } from "../../command.ts";
import { makeChange, planChanges, removeValue, valueIn } from "../../config/change-value.ts";
import { TEMPLATE } from "../../config/edit-file.ts";
import { noteSimilarModels } from "../../known-models.ts";
import { nameOfTool, newToolOption, requireKnownTool } from "../../known-tools.ts";
import { commandAbout, loadConfig, readIfValid, resolveConfigPath } from "../../load-config.ts";
import { noteOtherConfig } from "../../note-other-config.ts";
import { print, printJson } from "../../terminal/console.ts";

/** `tollkeeper alias`: lists aliases of models, and changes them. */
export const command: Command<ReportArguments> = {
  builder: (yargs) =>
    reportOptions(yargs)
      .command("list", "List the aliases", reportOptions, list)
      .command(
        "set <model> <other>",
        "Request another model instead of the one that tools name",
        setOptions,
        (args) => set(resolveConfigPath(args.config), args),
      )
      .command("remove <model>", "Remove an alias", modelOptions, (args) =>
        remove(resolveConfigPath(args.config), args),
      ),
  handler: list,
};

interface AliasArguments {
  model: string;
  tool?: string | undefined;
  /** Not there to remove an alias, whose tool need not be known. */
  new?: boolean;
}

function modelOptions(yargs: Argv<object>) {
  return yargs
    .option("config", { type: "string" })
    .positional("model", { type: "string", demandOption: true, describe: "The model that tools name" })
    .option("tool", { type: "string", describe: "For this tool only; default: for all tools" });
}

function setOptions(yargs: Argv<object>) {
  return newToolOption(modelOptions(yargs)).positional("other", {
    type: "string",
    demandOption: true,
    describe: "The model to request instead",
  });
}

async function list({ config: file, json }: ReportArguments): Promise<void> {
  const { aliases, tools } = await loadConfig(file);
  await noteOtherConfig(file);
  const found = [
    ...Object.entries(aliases).map(([model, other]) => ({ tool: null, model, other })),
    ...Object.entries(tools).flatMap(([tool, { aliases: own }]) =>
      Object.entries(own).map(([model, other]) => ({ tool, model, other })),
    ),
  ];
  if (json) return printJson(found);
  if (found.length === 0)
    print(
      "There is no alias. To set one, type for example:\n  tollkeeper alias set claude-haiku-4-5 qwen3-coder",
    );
  for (const { tool, model, other } of found)
    print(`${model}: requests ${other}${tool === null ? "" : `, for ${tool}`}`);
}

async function set(file: string, args: AliasArguments & { other: string }): Promise<void> {
  const { model, other } = args;
  const { tool, path } = await findPlace(file, args);
  const change = await planChanges(file, [[[...path, model], other]], TEMPLATE);
  const whose = tool === null ? "tools name" : `${tool} names`;
  await makeChange(
    file,
    change,
    `${other} is requested where ${whose} ${model}, set in ${file}\nTo remove it, type: ${removal(file, model, tool)}`,
  );
  await noteSimilarModels([other], file);
}

async function remove(file: string, args: AliasArguments): Promise<void> {
  const { model } = args;
  const { tool, path } = await findPlace(file, args);
  const aliases = valueIn(file, path);
  const names = isObject(aliases) ? Object.keys(aliases) : [];
  const nearest = names.includes(model) ? null : (findNearest(model, names) ?? names[0] ?? null);
  if (nearest !== null)
    throw new Failure(
      `${file} has no alias ${sanitizeText(model)}`,
      `did you mean: ${removal(file, nearest, tool)}`,
    );
  const whose = tool === null ? "" : ` of ${tool}`;
  await removeValue(file, [...path, model], {
    what: `an alias ${model}${whose}`,
    done: `The alias ${model}${whose} is removed from ${file}`,
    look: `to see all aliases, type: ${commandAbout(file, ["alias"])}`,
  });
}

function removal(file: string, model: string, tool: string | null): string {
  return commandAbout(file, ["alias", "remove", model, ...(tool === null ? [] : ["--tool", tool])]);
}

/** Returns the path of the aliases of all tools, or of one. */
async function findPlace(
  file: string,
  { tool: word, new: isNew }: AliasArguments,
): Promise<{ tool: string | null; path: ConfigPath }> {
  if (word === undefined) return { tool: null, path: ["aliases"] };
  const config = await readIfValid(file);
  const tool = isNew === undefined ? nameOfTool(word, config) : await requireKnownTool(word, config, isNew);
  return { tool, path: ["tools", tool, "aliases"] };
}

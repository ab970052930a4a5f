import { readConfigFile, type ConfigReading } from "../../adapters/config-file.ts";
import { ledgerDirectory } from "../../adapters/paths.ts";
import { budgetsOf, describeBudget } from "../../core/budget/budget.ts";
import type { Config, Upstream } from "../../core/config/config.ts";
import { describeOutbound } from "../../core/config/outbound.ts";
import { formatProblem } from "../../core/config/problem.ts";
import { buildJsonSchema } from "../../core/config/schema.ts";
import { describeTerms } from "../../core/policy/brake.ts";
import { groupOfTool, type Group } from "../../core/policy/groups.ts";
import { keyNameOfTool } from "../../core/policy/upstreams.ts";
import { describeKeySource } from "../../core/secrets/key-source.ts";
import type { Argv } from "../command-line.ts";
import { reportOptions, type Command } from "../command.ts";
import { resolveConfigPath } from "../load-config.ts";
import { EXIT, note, print, printJson } from "../terminal/console.ts";
import { getValue, setValue } from "../config/change-value.ts";
import { editConfig, TEMPLATE, writeSchema } from "../config/edit-file.ts";
import { formatToolsOf } from "../config/format-groups.ts";

/** `tollkeeper config`: shows, checks and edits the configuration file. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .command("path", "Print the path of the configuration file", configOption, ({ config }) =>
        print(resolveConfigPath(config)),
      )
      .command(
        "check",
        "Check the file: show what it configures, or list every problem in it",
        reportOptions,
        ({ config, json }) => check(resolveConfigPath(config), json),
      )
      .command(
        "schema",
        "Print the JSON Schema of the configuration file, which explains every key",
        {},
        () => print(JSON.stringify(buildJsonSchema(), null, 2)),
      )
      .command(
        "edit",
        "Open the configuration file in your editor, then check it",
        configOption,
        async ({ config }) => {
          const path = resolveConfigPath(config);
          await editConfig(path, process.env);
          await check(path, false);
        },
      )
      .command(
        "get <path>",
        "Print one value, such as upstreams.default.baseUrl",
        pathOption,
        ({ config, path }) => {
          const { value, isDefault } = getValue(resolveConfigPath(config), path);
          print(typeof value === "string" ? value : JSON.stringify(value));
          if (isDefault) note("note: the file does not set it; this is the default");
        },
      )
      .command(
        "set <path> <value>",
        "Change one value in place and keep the rest of the file",
        (args: Argv<object>) =>
          pathOption(args).positional("value", {
            type: "string",
            demandOption: true,
            describe: "The new value: JSON, or a string without its quotes",
          }),
        async ({ config, path, value }) => {
          const file = resolveConfigPath(config);
          await setValue(file, path, value, TEMPLATE);
          await writeSchema(file);
          print(`${path} is set in ${file}`);
        },
      )
      .demandCommand(1, "a subcommand is missing: path, check, schema, edit, get or set"),
  handler: () => {},
};

function configOption(yargs: Argv<object>) {
  return yargs.option("config", { type: "string" });
}

function pathOption(yargs: Argv<object>) {
  return configOption(yargs).positional("path", {
    type: "string",
    demandOption: true,
    describe: "Where the value is, such as listen.port",
  });
}

/** Prints problems on standard output, because they are the result; the exit code says whether there are any. */
async function check(path: string, asJson: boolean): Promise<void> {
  const reading = await readConfigFile(path);
  if (!reading.ok) process.exitCode = EXIT.failed;
  if (asJson) printJson(verdictOf(path, reading));
  else for (const line of describeReading(path, reading)) print(line);
}

function verdictOf(path: string, reading: ConfigReading): object {
  if (!reading.ok) return { path, ok: false, problems: reading.problems };
  return { path, ok: true, exists: reading.exists, problems: [], warnings: reading.warnings };
}

function describeReading(path: string, reading: ConfigReading): string[] {
  if (!reading.ok) return reading.problems.map((problem) => formatProblem(path, problem));
  const { config, exists, warnings } = reading;
  const verdict = exists ? `${path} is valid` : `${path} does not exist; the defaults apply`;
  const remarks = warnings.map((warning) => `warning: ${formatProblem(path, warning)}`);
  return [verdict, ...describeConfig(config), ...remarks];
}

function describeUpstream({ name, baseUrl, key, keySource, apis, models }: Upstream): string {
  const parts = [
    baseUrl,
    ...(apis === null ? [] : [`only ${apis.join(" and ")}`]),
    ...(models === null ? [] : [`models ${models.join(" ")}`]),
    keySource.kind === "none" ? "no key" : `key "${key}" from ${describeKeySource(keySource)}`,
  ];
  return `upstream ${name}: ${parts.join(", ")}`;
}

function describeGroup(config: Config, { name, models, key, brake }: Group): string {
  const parts = [
    models === null ? "all models" : `only ${models.join(" ")}`,
    ...(key === null ? [] : [`key "${key}"`]),
    ...(brake === null ? [] : [`brake: ${describeTerms(brake)}`]),
    `for ${formatToolsOf(config, name)}`,
  ];
  return `group ${name}: ${parts.join(", ")}`;
}

function describeConfig(config: Config): string[] {
  const upstreams = Object.values(config.upstreams).map(describeUpstream);
  const tools = Object.entries(config.tools).map(([name, { upstreams: allowed, brake }]) => {
    const where = allowed === null ? "all upstreams" : `upstream ${allowed.join(" or ")}`;
    const key = keyNameOfTool(config, name);
    const group = groupOfTool(config, name);
    const inGroup = group === null ? "" : `, group ${group.name}`;
    const braked = brake === null ? "" : `, brake: ${describeTerms(brake)}`;
    return `tool ${name}: ${where}, ${key === null ? "the upstream's key" : `key "${key}"`}${inGroup}${braked}`;
  });
  return [
    `listens on 127.0.0.1 and ::1, port ${config.listen.port}`,
    ...(upstreams.length === 0 ? ["no upstream is configured: the built-in sandbox responds"] : upstreams),
    ...tools,
    ...Object.values(config.groups).map((group) => describeGroup(config, group)),
    ...budgetsOf(config).map(
      (budget) => `budget: ${describeBudget(budget)}${budget.action === "warn" ? ", only warns" : ""}`,
    ),
    ...Object.entries(config.aliases).map(([name, model]) => `alias ${name}: requests ${model}`),
    ...describeOutbound(config.outbound),
    `keeps usage records for ${config.ledger.retainDays} days in ${ledgerDirectory(config)}`,
  ];
}

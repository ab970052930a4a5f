import type { Argv, CommandModule } from "yargs";
import { readConfigFile } from "../../adapters/config-file.ts";
import type { ConfigReading } from "../../adapters/config-file.ts";
import { formatProblem } from "../../core/config/problem.ts";
import { buildJsonSchema } from "../../core/config/schema.ts";
import type { Config } from "../../core/config/config.ts";
import { describeKeySource } from "../../core/secrets/key-source.ts";
import { describeOutbound } from "../../core/config/outbound.ts";
import { editConfig } from "./config/edit.ts";
import type { Command, ReportArguments } from "../command.ts";
import { resolveConfigPath } from "../load-config.ts";
import { EXIT, print } from "../terminal/console.ts";
import { ledgerDirectory } from "../../adapters/paths.ts";

interface ConfigArguments {
  config?: string | undefined;
}

const pathCommand: CommandModule<object, ConfigArguments> = {
  command: "path",
  describe: "Print where the configuration file is",
  handler: (argv) => print(resolveConfigPath(argv.config)),
};

const checkCommand: CommandModule<object, ReportArguments> = {
  command: "check",
  describe: "Say what is configured, or list everything that is wrong with the file",
  builder: (yargs) => yargs.option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: (argv) => check(resolveConfigPath(argv.config), argv.json),
};

const schemaCommand: CommandModule = {
  command: "schema",
  describe: "Print the JSON Schema of the configuration file, which explains every key",
  handler: () => print(JSON.stringify(buildJsonSchema(), null, 2)),
};

const editCommand: CommandModule<object, ConfigArguments> = {
  command: "edit",
  describe: "Open the configuration file in $VISUAL or $EDITOR, then check it",
  handler: async (argv) => {
    await editConfig(resolveConfigPath(argv.config), process.env);
    await check(resolveConfigPath(argv.config), false);
  },
};

/** `tollkeeper config`: shows, checks and edits the configuration file. */
export const command: Command<ConfigArguments> = {
  builder: (yargs): Argv<ConfigArguments> =>
    yargs
      .option("config", { type: "string" })
      .command(pathCommand)
      .command(checkCommand)
      .command(schemaCommand)
      .command(editCommand)
      .demandCommand(1, "say what to do with it: path, check, schema or edit"),
  handler: () => {},
};

/** Prints problems on standard output, because they are the result; the exit code says whether there are any. */
async function check(path: string, asJson: boolean): Promise<void> {
  const reading = await readConfigFile(path);
  if (!reading.ok) process.exitCode = EXIT.failed;
  if (asJson) print(JSON.stringify({ path, ...reading }, null, 2));
  else for (const line of describeReading(path, reading)) print(line);
}

function describeReading(path: string, reading: ConfigReading): string[] {
  if (!reading.ok) return reading.problems.map((problem) => formatProblem(path, problem));
  const { config, exists } = reading;
  const verdict = exists ? `${path} is good` : `there is no ${path}; the defaults hold`;
  return [verdict, ...describeConfig(config)];
}

function describeConfig(config: Config): string[] {
  const upstreams = Object.values(config.upstreams).map(
    ({ name, baseUrl, key, keySource }) =>
      `upstream ${name}: ${baseUrl}, key "${key}" from ${describeKeySource(keySource)}`,
  );
  const tools = Object.entries(config.tools).map(([name, { upstream, key }]) => {
    return `tool ${name}: upstream ${upstream}, ${key === null ? "its key" : `key "${key}"`}`;
  });
  return [
    `listens on 127.0.0.1 and ::1, port ${config.listen.port}`,
    ...(upstreams.length === 0 ? ["no upstream is configured: the built-in sandbox answers"] : upstreams),
    ...tools,
    ...describeOutbound(config.outbound),
    `keeps usage records ${config.ledger.retainDays} days in ${ledgerDirectory(config)}`,
  ];
}

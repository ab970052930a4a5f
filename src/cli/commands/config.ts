import { existsSync } from "node:fs";
import {
  MANAGED_PATH,
  readConfigFile,
  type ConfigReading,
  type ManagedFile,
} from "../../adapters/config-file.ts";
import { findExposedSource } from "../../adapters/key-sources.ts";
import { ledgerDirectory } from "../../adapters/paths.ts";
import { budgetsOf, describeBudget } from "../../core/budget/budget.ts";
import type { Config, Upstream } from "../../core/config/config.ts";
import { describeOutbound } from "../../core/config/outbound.ts";
import { OTHERS } from "../../core/config/names.ts";
import { formatConfigPath, formatProblem, type Problem } from "../../core/config/problem.ts";
import { buildJsonSchema, buildManagedSchema } from "../../core/config/schema.ts";
import { describeTerms } from "../../core/policy/brake.ts";
import { groupOfTool } from "../../core/policy/tool-access.ts";
import { keyNameOfTool } from "../../core/policy/tool-access.ts";
import { findWrongScheme } from "../../proxy/upstream/plain-server.ts";
import { nameUpstream } from "../../core/refusals/upstreams.ts";
import { describeKeySource } from "../../core/secrets/key-source.ts";
import type { Argv } from "../command-line.ts";
import { reportOptions, type Command } from "../command.ts";
import { newToolOption, requireKnownTool } from "../known-tools.ts";
import { commandAbout, readIfValid, resolveConfigPath } from "../load-config.ts";
import { noteMisnamedConfig } from "../note-other-config.ts";
import { EXIT, hasColours, note, print, printJson, printStyled } from "../terminal/console.ts";
import { makeChange, planValue, refuseManaged, removeValue, valueIn } from "../config/change-value.ts";
import { parsePath, unknownPath } from "../config/parse-path.ts";
import { editConfig } from "../config/edit-file.ts";
import {
  explainNamed,
  formatSetting,
  formatSettingLine,
  readLayers,
  renderSettings,
} from "../config/explain-value.ts";
import { noteLeftTools } from "../config/note-left-tools.ts";
import { describeGroup } from "../config/format-groups.ts";

/** `tollkeeper config`: shows, checks and edits the configuration file. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .command(
        "path",
        "Print the path of the configuration file, and name the managed file if there is one",
        reportOptions,
        ({ config, json }) => showPaths(resolveConfigPath(config), json),
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
        (args: Argv<object>) =>
          args.option("managed", {
            type: "boolean",
            default: false,
            describe: "Print the schema of the managed file, which can lock settings",
          }),
        ({ managed }) => print(JSON.stringify(managed ? buildManagedSchema() : buildJsonSchema(), null, 2)),
      )
      .command(
        "edit",
        "Open the configuration file in your editor, then check it",
        configOption,
        async ({ config }) => {
          const path = resolveConfigPath(config);
          refuseManaged(path);
          await editConfig(path, process.env);
          await check(path, false);
        },
      )
      .command(
        "get <path>",
        "Print one value, such as upstreams.default.baseUrl",
        pathOption,
        ({ config, path }) => get(resolveConfigPath(config), path),
      )
      .command(
        "explain [path]",
        "Show where a value comes from, whether it is locked and what it means; without a path, list all values that are set",
        (args: Argv<object>) =>
          reportOptions(args).positional("path", {
            type: "string",
            describe: "Where the value is, such as listen.port",
          }),
        ({ config, path, json }) => explain(resolveConfigPath(config), path, json),
      )
      .command(
        "set <path> <value>",
        "Change one value in place and keep the rest of the file",
        (args: Argv<object>) =>
          newToolOption(pathOption(args)).positional("value", {
            type: "string",
            demandOption: true,
            describe: "The new value: JSON, or a string without its quotes",
          }),
        async ({ config, path, value, new: isNew }) => set(resolveConfigPath(config), path, value, isNew),
      )
      .command(
        "unset <path>",
        "Remove one value, so that its default applies again, and keep the rest of the file",
        pathOption,
        async ({ config, path }) => unset(resolveConfigPath(config), path),
      )
      .demandCommand(1, "a subcommand is missing: path, check, schema, edit, get, explain, set or unset"),
  handler: () => {},
};

/** Asks the servers on this machine whether they speak what their URLs say: a handshake, and no request. */
async function findWrongSchemes({ upstreams }: Config): Promise<string[]> {
  const found = await Promise.all(
    Object.values(upstreams).map(async (upstream) => {
      const failure = await findWrongScheme(upstream);
      return failure === null
        ? []
        : [`${nameUpstream(upstream)}: ${failure.why}; ${failure.fix} Type: ${failure.command}`];
    }),
  );
  return found.flat();
}

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

/** The one line on standard output is for scripts. */
function showPaths(path: string, asJson: boolean): void {
  const isManaged = existsSync(MANAGED_PATH);
  if (asJson)
    return printJson({
      path,
      exists: existsSync(path),
      managed: { path: MANAGED_PATH, exists: isManaged },
    });
  print(path);
  noteMisnamedConfig(path);
  if (isManaged) note(`note: the managed file ${MANAGED_PATH} supplies what this file does not set`);
}

async function get(file: string, name: string): Promise<void> {
  const layers = await readLayers(file);
  const { value, source } = explainNamed(layers, name);
  print(typeof value === "string" ? value : JSON.stringify(value));
  if (source === "default") note("note: the file does not set it; this is the default");
  if (source === "managed") note(`note: the managed file ${layers.managed} sets it`);
}

/** A mistyped name of a tool is refused: it would make a setting that applies to no tool. */
async function set(file: string, name: string, text: string, isNew: boolean): Promise<void> {
  const path = parsePath(name);
  const [section, tool] = path;
  if (section === "tools" && typeof tool === "string" && tool !== OTHERS)
    path[1] = await requireKnownTool(tool, await readIfValid(file), isNew);
  const change = await planValue(file, path, text);
  await makeChange(file, change, `${formatConfigPath(path)} is set in ${file}`);
  await noteLeftTools(file, section);
}

/** @throws Failure when the file does not set the value */
async function unset(file: string, name: string): Promise<void> {
  const path = parsePath(name);
  const setting = formatConfigPath(path);
  if ((await readLayers(file)).explain(path) === null && valueIn(file, path) === undefined)
    throw unknownPath(name);
  await removeValue(file, path, {
    what: setting,
    done: `${setting} is no longer set in ${file}`,
    look: `to see where its value comes from, type: ${commandAbout(file, ["config", "explain", setting])}`,
  });
  await noteLeftTools(file, path[0]);
}

/** Explains an invalid configuration, too, because that is when people ask. */
async function explain(file: string, name: string | undefined, asJson: boolean): Promise<void> {
  const layers = await readLayers(file);
  if (!layers.isValid)
    note("note: the configuration is not valid; to see why, type: tollkeeper config check");
  if (name !== undefined) {
    const setting = layers.describe(explainNamed(layers, name));
    // `printJson` would change the names within the values.
    if (asJson) print(JSON.stringify(setting, null, 2));
    else for (const line of formatSetting(setting)) print(line);
    return;
  }
  const settings = layers.list();
  if (asJson) return print(JSON.stringify({ path: file, managed: layers.managed, settings }, null, 2));
  if (settings.length === 0) print("no file sets anything; the defaults apply");
  const { columns } = process.stdout;
  if (columns > 0 && settings.length > 0) printStyled(renderSettings(settings, columns, hasColours()));
  else for (const setting of settings) print(formatSettingLine(setting));
}

/** Prints problems on standard output, because they are the result; the exit code says whether there are any. */
async function check(path: string, asJson: boolean): Promise<void> {
  const found = await readConfigFile(path);
  const exposed = found.ok ? await findExposedSources(found.config) : [];
  const reading = found.ok ? { ...found, warnings: [...found.warnings, ...exposed] } : found;
  if (!reading.ok || reading.overruled.length + exposed.length > 0) process.exitCode = EXIT.failed;
  if (asJson) printJson(verdictOf(path, reading));
  else for (const line of describeReading(path, reading)) print(line);
  noteMisnamedConfig(path);
  if (!asJson && reading.ok)
    for (const warning of await findWrongSchemes(reading.config)) print(`warning: ${warning}`);
}

/** Keys are read when they are needed. From where others could put one, or run a command, none is. */
async function findExposedSources(config: Config): Promise<Problem[]> {
  const found = Object.values(config.upstreams).map(async ({ name, keySource }): Promise<Problem[]> => {
    const exposure = await findExposedSource(keySource);
    if (exposure === null) return [];
    const what = keySource.kind === "command" ? "what the command runs" : "the key file";
    const path = formatConfigPath(["upstreams", name, "keySource"]);
    const message = `is not used: ${exposure.describe(what)}`;
    return [{ path, line: null, message, hint: exposure.command }];
  });
  return (await Promise.all(found)).flat();
}

function verdictOf(path: string, reading: ConfigReading): object {
  if (!reading.ok) return { path, ok: false, problems: reading.problems };
  const { exists, managed, overruled, warnings } = reading;
  return {
    path,
    ok: overruled.length === 0,
    exists,
    managed: describeManaged(managed),
    problems: overruled,
    warnings,
  };
}

function describeReading(path: string, reading: ConfigReading): string[] {
  if (!reading.ok) return reading.problems.map((problem) => formatProblem(path, problem));
  const { config, exists, managed, overruled, warnings } = reading;
  const verdict = exists ? `${path} is valid` : `${path} does not exist; the defaults apply`;
  const faults = overruled.map((problem) => formatProblem(path, problem));
  const remarks = warnings.map((warning) => `warning: ${formatProblem(path, warning)}`);
  const head = faults.length > 0 ? faults : [verdict];
  return [...head, ...formatManaged(managed), ...describeConfig(config), ...remarks];
}

function describeManaged(managed: ManagedFile | null): object | null {
  return managed && { path: managed.path, locked: managed.locked.map((path) => formatConfigPath(path)) };
}

function formatManaged(managed: ManagedFile | null): string[] {
  if (managed === null) return [];
  const locked = managed.locked.map((path) => formatConfigPath(path)).join(", ");
  return [
    `the managed file ${managed.path} supplies defaults${locked === "" ? "" : `, and locks ${locked}`}`,
  ];
}

function describeUpstream({ name, baseUrl, key, keySource, credential, apis, models }: Upstream): string {
  const none = credential === "client" ? "the key that each tool sends" : "no key";
  const parts = [
    baseUrl,
    ...(apis === null ? [] : [`only ${apis.join(" and ")}`]),
    ...(models === null ? [] : [`models ${models.join(" ")}`]),
    keySource.kind === "none" ? none : `key "${key}" from ${describeKeySource(keySource)}`,
  ];
  return `upstream ${name}: ${parts.join(", ")}`;
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

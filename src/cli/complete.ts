import { SOURCES } from "../core/ledger/import/imported-record.ts";
import { CONNECTABLE_TOOLS } from "../tools/all.ts";
import { completeOptions, type ProgramCommand } from "./command-line.ts";
import { findCommandPath, subcommandsOf, takesArgument } from "./command-line/examples.ts";
import { DEVCONTAINER } from "./connect/print-devcontainer.ts";
import { listRunningModels } from "./connect/local-endpoint.ts";
import { listSettingPaths } from "./config/explain-value.ts";
import { LAST } from "./last-id.ts";
import { configInUse, takeConfig, useConfigFile } from "./config-in-use.ts";
import { loadConfig } from "./load-config.ts";

/** What an argument or the value of an option stands for. */
type Kind = "tool" | "key" | "upstream" | "model" | "setting" | "group" | "alias" | "id";

/** The first argument of each command that names something. */
const ARGUMENTS: Readonly<Record<string, Kind>> = {
  connect: "tool",
  disconnect: "tool",
  env: "tool",
  route: "model",
  prices: "model",
  capture: "tool",
  "capture stop": "tool",
  pause: "tool",
  resume: "tool",
  "config get": "setting",
  "config set": "setting",
  "config unset": "setting",
  "config explain": "setting",
  "budget lift": "tool",
  "budget set": "tool",
  "budget remove": "tool",
  "group set": "group",
  "group use": "tool",
  "group leave": "tool",
  "group remove": "group",
  "brake set": "tool",
  "brake remove": "tool",
  "alias set": "model",
  "alias remove": "alias",
  "token add": "tool",
  "token revoke": "tool",
  "key set": "key",
  "key test": "key",
  "key remove": "key",
};

const OPTION_VALUES: Readonly<Record<string, Kind>> = {
  "--tool": "tool",
  "--connect": "tool",
  "--upstream": "upstream",
  "--model": "model",
  "--key": "key",
  "--group": "group",
  "--session": "id",
  "--record": "id",
  "--explain": "id",
};

/** The second argument of each command that names something there. */
const SECOND_ARGUMENTS: Readonly<Record<string, Kind>> = {
  "group use": "group",
  "alias set": "model",
};

/** Commands that take the id of something that is recorded or captured. */
const WITH_ID: ReadonlySet<string> = new Set([
  "explain",
  "usage session",
  "capture show",
  "capture diff",
  "capture export",
  "capture delete",
]);

/** Prints the words that may come next on a command line, one a line. `words` ends with the one being typed, which may be empty. */
export async function complete(words: readonly string[], commands: readonly ProgramCommand[]): Promise<void> {
  const current = words.at(-1) ?? "";
  const before = takeConfig(words.slice(0, -1));
  useConfigFile(before.file);
  const found = await findCandidates(before.words, current, commands);
  for (const word of found.filter((candidate) => candidate.startsWith(current)))
    process.stdout.write(`${word}\n`);
}

async function findCandidates(
  before: readonly string[],
  current: string,
  commands: readonly ProgramCommand[],
): Promise<string[]> {
  // What follows is the command line of another program.
  if (before.includes("--")) return [];
  const [name] = before;
  if (name === undefined)
    return current.startsWith("-") ? ["--help", "--version"] : commands.map((one) => one.name);
  const kind = OPTION_VALUES[before.at(-1) ?? ""];
  if (kind !== undefined) return list(kind);
  if (current.startsWith("-") || before.at(-1)?.startsWith("--") === true)
    return completeOptions(before, commands);
  const path = findCommandPath(before);
  const below = path === name ? subcommandsOf(name) : [];
  if (below.length > 0 && !takesArgument(name)) return below;
  if (path === "completion") return ["bash", "zsh", "fish"];
  if (WITH_ID.has(path)) return [LAST];
  if (path === "ledger import") return [...SOURCES];
  if (path === "connect" && before.length === 1) return [...(await list("tool")), DEVCONTAINER];
  const given = before.length - path.split(" ").length;
  const argument = [ARGUMENTS, SECOND_ARGUMENTS][given]?.[path];
  return [...(given === 0 ? below : []), ...(argument === undefined ? [] : await list(argument))];
}

/** Returns what there is of a kind; nothing when the configuration or the daemon cannot say. */
async function list(kind: Kind): Promise<string[]> {
  if (kind === "id") return [LAST];
  if (kind === "tool") return CONNECTABLE_TOOLS.map(({ name }) => name);
  try {
    if (kind === "setting") return await listSettingPaths(configInUse());
    if (kind === "model") return (await listRunningModels()).models.map(({ id }) => id);
    const { upstreams, tools, groups, aliases } = await loadConfig(configInUse());
    if (kind === "upstream") return Object.keys(upstreams);
    if (kind === "group") return Object.keys(groups);
    if (kind === "alias") return Object.keys(aliases);
    const keys = [upstreams, groups, tools].flatMap((named) => Object.values(named)).map(({ key }) => key);
    return [...new Set(keys.filter((key) => key !== null))];
  } catch {
    return [];
  }
}

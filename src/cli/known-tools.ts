import { findDays, visitDay } from "../adapters/ledger-file.ts";
import { ledgerDirectory, tokenPath } from "../adapters/paths.ts";
import { openTokenFile } from "../adapters/token-file.ts";
import type { Config } from "../core/config/config.ts";
import { checkToolName } from "../core/config/names.ts";
import { sanitizeText } from "../core/config/problem.ts";
import { Failure } from "../core/failure.ts";
import { findNearest } from "../core/text/did-you-mean.ts";
import { formatCommand } from "../core/text/shell-words.ts";
import { REQUEST_SIGNATURES, TOOLS } from "../tools/all.ts";
import { attempt } from "./attempt.ts";
import type { Argv } from "./command-line.ts";
import { findTool } from "./connect/select-tool.ts";
import { note } from "./terminal/console.ts";
import { WrongUsage } from "./wrong-usage.ts";

/** So many of the ledger's last days are searched for a tool that nothing else knows. */
const SEARCHED_DAYS = 31;

/** Adds `--new`, for the commands that {@link requireKnownTool} guards. */
export function newToolOption<T>(yargs: Argv<T>): Argv<T & { new: boolean }> {
  return yargs.option("new", {
    type: "boolean",
    default: false,
    describe: "Accept a tool that tollkeeper has not seen yet",
  });
}

/**
 * Returns the name that the ledger has for the tool that a person means, who may type its title or its program. A mistyped name would
 * make a rule that applies to no tool, so it has to be known: from the configuration, from what `connect` knows, from a local token, or from the
 * ledger's last days.
 * @param isNew accepts any other name; null for a command without `--new`
 * @throws WrongUsage for what cannot be a name; Failure for a tool that is not known, naming the nearest
 */
export async function requireKnownTool(word: string, config: Config, isNew: boolean | null): Promise<string> {
  const name = nameOfTool(word, config);
  if (isNew === true || listNames(config).has(name)) return name;
  const recorded = await toolsInLedger(config, name);
  if (recorded.has(name)) return name;
  throw unknownTool(name, [...listNames(config), ...recorded], isNew !== null);
}

/** As {@link requireKnownTool}, for a command in which a group can be named, too, with `--group`. */
export async function requireToolNotGroup(
  word: string,
  config: Config,
  isNew: boolean | null,
): Promise<string> {
  const { value, failure } = await attempt(Failure, () => requireKnownTool(word, config, isNew));
  if (failure === null) return value;
  if (failure instanceof WrongUsage || !Object.hasOwn(config.groups, word)) throw failure;
  throw new Failure(
    `"${word}" is a group, not a tool`,
    `to name the group, type in its place: --group ${word}`,
  );
}

/** Returns the name that the ledger has for a tool, known or not, whose title or program may be typed. @throws WrongUsage for what cannot be a name */
export function nameOfTool(word: string, config: Config): string {
  const name = Object.hasOwn(config.tools, word) ? word : (findTool(word)?.name ?? word);
  const problem = checkToolName(name);
  if (problem !== null) throw new WrongUsage(`"${sanitizeText(word)}" cannot be a tool's name`, problem);
  return name;
}

/** Returns a known name that a new one was probably meant to be; null when there is none, or when it is known itself. */
export async function findSimilarTool(name: string, config: Config): Promise<string | null> {
  // A pattern is meant to have no namesake.
  if (name.includes("*") || listNames(config).has(name)) return null;
  const recorded = await toolsInLedger(config, name);
  return recorded.has(name) ? null : findNearest(name, [...listNames(config), ...recorded]);
}

/** Says on standard error that the tool whose view a command shows is probably another one. */
export async function noteSimilarTool(name: string | null | undefined, config: Config): Promise<void> {
  const similar = typeof name === "string" ? await findSimilarTool(name, config) : null;
  if (similar !== null)
    note(`note: no tool called "${sanitizeText(name ?? "")}" is known; did you mean "${similar}"?`);
}

/** Refuses a new name that is probably a known one. @throws Failure unless `isNew` */
export async function refuseSimilarTool(name: string, config: Config, isNew: boolean): Promise<void> {
  const similar = isNew ? null : await findSimilarTool(name, config);
  if (similar !== null) throw unknownTool(name, [similar], true);
}

/** Returns the error for a tool that is probably another one. */
function unknownTool(name: string, known: readonly string[], takesNew: boolean): Failure {
  const nearest = findNearest(name, known);
  const guess = nearest === null ? "" : `; did you mean "${nearest}"?`;
  const list = `to see the tools that have sent requests, type: ${formatCommand(["tollkeeper", "usage"])}`;
  return new Failure(
    `no tool called "${sanitizeText(name)}" is known${guess}`,
    takesNew ? `${list}; if the tool has sent none yet, add: --new` : list,
  );
}

/** The names that need no search. */
function listNames(config: Config): Set<string> {
  return new Set([
    ...Object.keys(config.tools),
    ...TOOLS.map(({ name }) => name),
    ...REQUEST_SIGNATURES.libraries.map(({ tool }) => tool),
    ...tokenHolders(),
  ]);
}

/** A file of tokens that cannot be read is no reason to refuse a name. */
function tokenHolders(): string[] {
  try {
    return openTokenFile(tokenPath())
      .read()
      .map(({ tool }) => tool);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** Returns the tools of the ledger's last days, back to the day with the wanted one. */
async function toolsInLedger(config: Config, wanted: string): Promise<Set<string>> {
  const found = new Set<string>();
  await attempt(Failure, async () => {
    const directory = ledgerDirectory(config);
    for (const day of findDays(directory, { from: "" }).slice(-SEARCHED_DAYS).toReversed()) {
      await visitDay(directory, day, (entry) => {
        if (!("unreadable" in entry)) found.add(entry.tool);
      });
      if (found.has(wanted)) break;
    }
  });
  return found;
}

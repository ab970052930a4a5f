import { sanitizeText } from "../../core/config/problem.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import type { ConnectableTool } from "../../tools/tool.ts";
import { takeConfig } from "../config-in-use.ts";
import { WrongUsage } from "../wrong-usage.ts";
import { examplesOf, findCommandPath, isWholeAlone, subcommandsOf, takesArgument } from "./examples.ts";
import { findInstead, toolIn } from "./foreign-options.ts";
import { keyAsArgument, mayBeKey } from "./key-as-argument.ts";
import { findSynonym, MEANT } from "./meant.ts";
import { findWholeCommand } from "./whole-command.ts";

/** More are not listed in a sentence. */
const MAX_LISTED = 10;

/** What a command cannot do without. */
const NEEDED: Readonly<Record<string, string>> = {
  "token add": "the name of a tool",
  "token revoke": "the name of a tool",
  env: "the name of a tool",
  "config get": "the name of a setting",
  "config set": "the name of a setting and its new value",
  "config unset": "the name of a setting",
  "group set": "the name of a group",
  "group use": "the name of a tool and of a group",
  "group leave": "the name of a tool",
  "group remove": "the name of a group",
  "alias set": "the model that tools name and the one to request instead",
  "alias remove": "the model that tools name",
  "ledger reconcile": "the file of an export",
  "export header": "the name of a header",
  "usage session": "the id of a session, or the word last",
  explain: "the id of a record, or the word last",
  completion: "the name of a shell: bash, zsh or fish",
};

/** What `--since` takes; anything else after a report is the name of a tool. */
const PERIOD = /^(?:\d+[hdw]|today|yesterday|last|this|\d{4}(?:-\d\d){0,2})$/;

/** What the program knows where a command line stops making sense. */
interface Knowledge {
  words: readonly string[];
  commands: readonly string[];
  /** Options of the command, without dashes. */
  options: readonly string[];
}

/** Explains what yargs found wrong, in our words: what it is, what was probably meant, and an example. */
export function explainWrongUsage(message: string, known: Knowledge): WrongUsage {
  const path = findCommandPath(known.words);
  if (known.words.some(mayBeKey)) return keyAsArgument(known.words[0]);
  const wrongDash = explainDash(path, known);
  if (wrongDash !== null) return wrongDash;
  const [, unknown = null] = /^Unknown (?:argument|command)s?: ([^,]+)/.exec(message) ?? [];
  return new WrongUsage(rephrase(message, path, known, unknown), hintFor(path, known, unknown));
}

/** One dash before a word, which yargs takes for as many options as it has letters, or the long dash that editors make of two. */
const WRONG_DASH = /^(?<dash>-(?=[a-z]{2})|[\u2012-\u2015\u2212])(?<name>[a-z][a-z-]*)?/i;

/** Returns what is wrong with an option that does not begin with two hyphens; null when there is none. */
function explainDash(path: string, known: Knowledge): WrongUsage | null {
  const end = known.words.indexOf("--");
  const own = end === -1 ? known.words : known.words.slice(0, end);
  const { dash, name } = own.map((word) => WRONG_DASH.exec(word)?.groups).find(Boolean) ?? {};
  if (dash === undefined) return null;
  if (dash !== "-")
    return new WrongUsage(`"${dash}" is a dash, not two hyphens`, `type two hyphens: --${name ?? ""}`);
  const option = sanitizeText(name ?? "");
  return new WrongUsage(
    `there is no option -${option}${suggest(option, known.options, "--")}`,
    hintFor(path, known, null),
  );
}

/**
 * Returns what is wrong with a command line whose first words name no command, whatever follows, such as `--help`; null if nothing is,
 * or an option comes first.
 */
export async function findUnknownCommand(known: Knowledge): Promise<WrongUsage | null> {
  const [first = "-", second = "-"] = known.words;
  if (first.startsWith("-")) return null;
  const hasSubcommands =
    subcommandsOf(first).length > 0 &&
    !isWholeAlone(first) &&
    (!takesArgument(first) || findMeant(first, second) !== null);
  const isUnknown = !known.commands.includes(first);
  const isUnknownBelow =
    hasSubcommands && !second.startsWith("-") && findCommandPath([first, second]) === first;
  if (!isUnknown && !isUnknownBelow) return null;
  // The tools are loaded only here: no command that exists needs to wait for them.
  const { findTool } = await import("../connect/select-tool.ts");
  const tool = isUnknown ? findTool(first) : undefined;
  if (tool !== undefined) return explainTool(first, tool);
  return explainWrongUsage(`Unknown argument: ${isUnknown ? first : second}`, known);
}

function explainTool(word: string, { name, title, programs }: ConnectableTool): WrongUsage {
  const [program] = programs;
  const once = program === undefined ? "" : `; to run it once, type: tollkeeper run -- ${program}`;
  return new WrongUsage(
    `there is no command "${sanitizeText(word)}"`,
    `to connect ${title}, type: tollkeeper connect ${name}${once}`,
  );
}

/** The example is the one that has an option of the command line, if there is one. */
function hintFor(
  path: string,
  { words, options: known, commands }: Knowledge,
  unknown: string | null,
): string {
  const own = takeConfig(words).words;
  const subcommand = unknown === null ? null : findSubcommand(unknown, subcommandsOf(path));
  const examples = examplesOf(subcommand === null ? path : `${path} ${subcommand}`);
  const typed = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/=.*/, ""));
  const options = typed.map((option) => nearestOption(option, known));
  const instead = findInstead(path, own);
  if (instead !== null) return instead;
  if (unknown !== null) {
    const meant = findMeant(path, unknown) ?? findMistypedMeant(path, unknown, commands);
    if (meant !== null) return path === "" ? meant.replace("TOOL", toolIn(words[1])) : meant;
    const [, count] = /^-(\d+)$/.exec(unknown) ?? [];
    if (count !== undefined && known.includes("lines"))
      return `for the newest ${count}, type: tollkeeper ${path} -n ${count}`;
    if (unknown === "help") return `to see what it takes, type: tollkeeper ${path} --help`;
  }
  const whole = subcommand === null ? findWholeCommand(path, own, unknown) : null;
  if (whole !== null) return `${whole}; for more, type: tollkeeper ${path} --help`;
  if (unknown !== null && words.includes(unknown) && known.includes("since") && known.includes("tool"))
    return explainArgument(path, unknown);
  const example =
    examples.find((line) => options.some((option) => `${line} `.includes(` ${option} `))) ?? examples[0];
  if (path === "" && lacksConfigFile(words))
    return "name a file and a command: tollkeeper --config FILE status";
  if (example === undefined) return "to see all commands, type: tollkeeper --help";
  return `for example: ${example}; for more, type: tollkeeper ${path} --help`;
}

function lacksConfigFile(words: readonly string[]): boolean {
  return words.includes("--config") && takeConfig(words).file === undefined;
}

/** A report takes its period and its tool as options. */
function explainArgument(path: string, word: string): string {
  if (PERIOD.test(word)) return `for a period, type: tollkeeper ${path} --since ${word}`;
  return `for one tool, type: tollkeeper ${path} --tool ${toolIn(word)}; for more, type: tollkeeper ${path} --help`;
}

function findMeant(path: string, unknown: string): string | null {
  const name = path === "" ? unknown : `${path} ${unknown}`;
  return Object.hasOwn(MEANT, name) ? (MEANT[name] ?? null) : null;
}

/** `strat` is no mistyped command of ours, but a mistyped one of other programs. */
function findMistypedMeant(path: string, unknown: string, commands: readonly string[]): string | null {
  if (path !== "" || unknown.startsWith("-") || findMistyped(unknown, commands) !== null) return null;
  const near = findNearest(
    unknown,
    Object.keys(MEANT).filter((name) => !name.includes(" ")),
  );
  return near === null ? null : findMeant(path, near);
}

/** Returns the option that a mistyped one probably stands for, else the option as it was typed. */
function nearestOption(option: string, known: readonly string[]): string {
  const name = option.replace(/^-+/, "");
  const nearest = known.includes(name) ? name : findNearest(name, known);
  return nearest === null ? option : `--${nearest}`;
}

function rephrase(message: string, path: string, known: Knowledge, unknown: string | null): string {
  if (unknown !== null) return describeUnknown(unknown, path, known);
  if (path === "" && message.startsWith("Not enough non-option arguments"))
    return lacksConfigFile(known.words) ? "--config needs a value" : "a command is missing";
  if (message.startsWith("Not enough non-option arguments"))
    return `"${path}" needs ${NEEDED[path] ?? "more arguments"}`;
  const [, missing] = /^Missing required argument: (\S+)$/.exec(message) ?? [];
  if (missing !== undefined) return `--${missing} is missing`;
  const [, name, given, choices] = /Argument: (\S+), Given: (.*), Choices: (.*)/.exec(message) ?? [];
  if (name !== undefined)
    return rejectChoice(dashed(name, known), path, given ?? "", (choices ?? "").replaceAll('"', ""));
  const [, one, other] = /^Arguments (\S+) and (\S+) are mutually exclusive/.exec(message) ?? [];
  if (one !== undefined)
    return `${dashed(one, known)} and ${dashed(other ?? "", known)} cannot be used together`;
  return message;
}

/** Of an option by its name, of an argument by its command: its name is only in the help. */
function rejectChoice(name: string, path: string, given: string, choices: string): string {
  const start = name.startsWith("--") ? `${name} cannot be ${given}` : `"${path}" cannot take ${given}`;
  return `${start}; choose one of: ${choices}`;
}

function dashed(name: string, { options, words }: Knowledge): string {
  return options.includes(name) && words.some((word) => word.startsWith(`--${name}`)) ? `--${name}` : name;
}

function describeUnknown(word: string, path: string, { words, commands, options }: Knowledge): string {
  const option = words.find((given) => given.startsWith("-") && given.replace(/^-+|=.*$/g, "") === word);
  if (option !== undefined)
    return `there is no option ${sanitizeText(option.replace(/=.*/, ""))}${suggest(word, options, "--")}`;
  if (path === "") {
    const guess = findMeant(path, word) !== null ? "" : suggest(word, commands, "");
    return `there is no command "${sanitizeText(word)}"${guess}`;
  }
  const subcommands = subcommandsOf(path);
  if (subcommands.length === 0) return takesNo(path, word);
  const what = `there is no "${path} ${sanitizeText(word)}"`;
  if (findMeant(path, word) !== null) return what;
  const meant = findSubcommand(word, subcommands);
  if (meant === null && isWholeAlone(path)) return takesNo(path, word);
  return meant === null
    ? `${what}; the subcommands are: ${subcommands.join(", ")}`
    : `${what}; did you mean "${path} ${meant}"?`;
}

function takesNo(path: string, word: string): string {
  return `"${path}" takes no argument "${sanitizeText(word)}"`;
}

/** Returns the subcommand that does what a word stands for, or that it was mistyped for; null when there is none. */
function findSubcommand(word: string, subcommands: readonly string[]): string | null {
  return findSynonym(word, subcommands) ?? findMistyped(word, subcommands);
}

/** Returns what a word was probably mistyped for, or is the beginning of; null when nothing is near. */
function findMistyped(word: string, candidates: readonly string[]): string | null {
  if (word.length < 2) return null;
  const longer = candidates.filter((candidate) => candidate.startsWith(word));
  return (longer.length === 1 ? longer[0] : undefined) ?? findNearest(word, candidates);
}

function suggest(word: string, candidates: readonly string[], prefix: string): string {
  const nearest = findMistyped(word, candidates);
  if (nearest !== null) return `; did you mean "${prefix}${nearest}"?`;
  return prefix === "--" || candidates.length > MAX_LISTED
    ? ""
    : `; the subcommands are: ${candidates.join(", ")}`;
}

import { NAME } from "../../core/config/names.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { WrongUsage } from "../wrong-usage.ts";
import { examplesOf, findCommandPath, subcommandsOf } from "./examples.ts";
import { keyAsArgument, mayBeKey } from "./key-as-argument.ts";

/** More are not listed in a sentence. */
const MAX_LISTED = 10;

/** What a command cannot do without. */
const NEEDED: Readonly<Record<string, string>> = {
  "token add": "the name of a tool",
  "token revoke": "the name of a tool",
  env: "the name of a tool",
  "config get": "the path of a value",
  "config set": "the path of a value and the new value",
  "config unset": "the path of a value",
  "group set": "the name of a group",
  "group use": "the name of a tool and of a group",
  "group leave": "the name of a tool",
  "group remove": "the name of a group",
  "alias set": "the model that tools name and the one to request instead",
  "alias remove": "the model that tools name",
  "ledger reconcile": "the file of an export",
  completion: "the name of a shell: bash, zsh or fish",
};

/** What to type in place of options that people expect from other programs, and a value in case none was given. */
const INSTEAD: Readonly<Record<string, { hint: string; value: string }>> = {
  "serve --port": { hint: "to set the port, type: tollkeeper config set listen.port", value: "8700" },
};

/** What to type in place of commands that people expect from other programs. */
const MEANT: Readonly<Record<string, string>> = {
  start:
    "to start the background service, type: tollkeeper service start; or to run in this terminal, type: tollkeeper serve",
  stop: "to stop the background service, type: tollkeeper service stop",
  restart: "to restart the background service, type: tollkeeper service restart",
  logs: "to see the log of the background service, type: tollkeeper service logs",
  log: "to see the log of the background service, type: tollkeeper service logs",
  daemon: "to run in this terminal, type: tollkeeper serve",
  up: "to start the background service, type: tollkeeper service start",
  down: "to stop the background service, type: tollkeeper service stop",
  install:
    "to set up everything, type: tollkeeper setup; or for the service alone, type: tollkeeper service install",
  init: "to set up everything, type: tollkeeper setup",
  login: "to store an API key, type: tollkeeper key set",
  logout: "to remove a stored API key, type: tollkeeper key remove",
  auth: "to store an API key, type: tollkeeper key set",
  prune: "to delete old records, type: tollkeeper ledger prune --before 2026-01",
  import: "to import past usage from tools' own logs, type: tollkeeper ledger import",
  verify: "to verify the records, type: tollkeeper ledger verify",
  cost: "to see what each tool has cost, type: tollkeeper usage",
  costs: "to see what each tool has cost, type: tollkeeper usage",
  stats: "to see how much each tool used, type: tollkeeper usage",
  report: "to see how much each tool used, type: tollkeeper usage",
  limit: "to set a limit, type: tollkeeper budget set --help",
  list: "to see the supported tools, type: tollkeeper connect --list",
  tools: "to see the supported tools, type: tollkeeper connect --list",
  ps: "to see what is running, type: tollkeeper top",
  watch:
    "to see each request as it ends, type: tollkeeper tail; or for the whole screen, type: tollkeeper top",
  ui: "to open the page, type: tollkeeper dashboard",
  web: "to open the page, type: tollkeeper dashboard",
  update: "to update, type in the clone: git pull && npm ci; then type: tollkeeper service install",
  upgrade: "to update, type in the clone: git pull && npm ci; then type: tollkeeper service install",
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
  if (known.words.some(mayBeKey)) return keyAsArgument();
  const [, unknown = null] = /^Unknown (?:argument|command)s?: ([^,]+)/.exec(message) ?? [];
  return new WrongUsage(rephrase(message, path, known, unknown), hintFor(path, known, unknown));
}

/**
 * Returns what is wrong with a command line whose first words name no command, whatever follows, such as `--help`; null if nothing is,
 * or an option comes first.
 */
export function findUnknownCommand(known: Knowledge): WrongUsage | null {
  const [first = "-", second = "-"] = known.words;
  if (first.startsWith("-")) return null;
  const hasSubcommands = subcommandsOf(first).length > 0;
  const isUnknown = !known.commands.includes(first);
  const isUnknownBelow =
    hasSubcommands && !second.startsWith("-") && findCommandPath([first, second]) === first;
  if (!isUnknown && !isUnknownBelow) return null;
  return explainWrongUsage(`Unknown argument: ${isUnknown ? first : second}`, known);
}

/** The example is the one that has an option of the command line, if there is one. */
function hintFor(path: string, { words, options: known }: Knowledge, unknown: string | null): string {
  const examples = examplesOf(path);
  const typed = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/=.*/, ""));
  const options = typed.map((option) => nearestOption(option, known));
  const instead = findInstead(path, words);
  if (instead !== null) return instead;
  if (unknown !== null) {
    if (path === "" && Object.hasOwn(MEANT, unknown)) return MEANT[unknown] ?? "";
    if (words.includes(unknown) && known.includes("since") && known.includes("tool"))
      return explainArgument(path, unknown);
  }
  const example =
    examples.find((line) => options.some((option) => `${line} `.includes(` ${option} `))) ?? examples[0];
  if (example === undefined) return "to see all commands, type: tollkeeper --help";
  return `for example: ${example}; for more, type: tollkeeper ${path} --help`;
}

/** A report takes its period and its tool as options. */
function explainArgument(path: string, word: string): string {
  if (PERIOD.test(word)) return `for a period, type: tollkeeper ${path} --since ${word}`;
  const tool = NAME.test(word) ? word : "codex";
  return `for one tool, type: tollkeeper ${path} --tool ${tool}; for more, type: tollkeeper ${path} --help`;
}

/** Returns the option that a mistyped one probably stands for, else the option as it was typed. */
function nearestOption(option: string, known: readonly string[]): string {
  const name = option.replace(/^-+/, "");
  const nearest = known.includes(name) ? name : findNearest(name, known);
  return nearest === null ? option : `--${nearest}`;
}

function findInstead(path: string, words: readonly string[]): string | null {
  for (const [index, word] of words.entries()) {
    const [option = "", given = words[index + 1]] = word.split("=");
    const instead = INSTEAD[`${path} ${option}`];
    if (instead === undefined) continue;
    return `${instead.hint} ${/^\d+$/.test(given ?? "") ? given : instead.value}`;
  }
  return null;
}

function rephrase(message: string, path: string, known: Knowledge, unknown: string | null): string {
  if (unknown !== null) return describeUnknown(unknown, path, known);
  if (message.startsWith("Not enough non-option arguments"))
    return `"${path}" needs ${NEEDED[path] ?? "more arguments"}`;
  const [, missing] = /^Missing required argument: (\S+)$/.exec(message) ?? [];
  if (missing !== undefined) return `--${missing} is missing`;
  const [, name, given, choices] = /Argument: (\S+), Given: (.*), Choices: (.*)/.exec(message) ?? [];
  if (name !== undefined)
    return `${dashed(name, known)} cannot be ${given}; choose one of: ${choices?.replaceAll('"', "")}`;
  const [, one, other] = /^Arguments (\S+) and (\S+) are mutually exclusive/.exec(message) ?? [];
  if (one !== undefined)
    return `${dashed(one, known)} and ${dashed(other ?? "", known)} cannot be used together`;
  return message;
}

function dashed(name: string, { options, words }: Knowledge): string {
  return options.includes(name) && words.some((word) => word.startsWith(`--${name}`)) ? `--${name}` : name;
}

function describeUnknown(word: string, path: string, { words, commands, options }: Knowledge): string {
  const option = words.find((given) => given.startsWith("-") && given.replace(/^-+|=.*$/g, "") === word);
  if (option !== undefined)
    return `there is no option ${sanitizeText(option.replace(/=.*/, ""))}${suggest(word, options, "--")}`;
  if (path === "") {
    const guess = Object.hasOwn(MEANT, word) ? "" : suggest(word, commands, "");
    return `there is no command "${sanitizeText(word)}"${guess}`;
  }
  const subcommands = subcommandsOf(path);
  if (subcommands.length === 0) return `"${path}" takes no argument "${sanitizeText(word)}"`;
  return `there is no "${path} ${sanitizeText(word)}"${suggest(word, subcommands, `${path} `)}`;
}

function suggest(word: string, candidates: readonly string[], prefix: string): string {
  const longer = candidates.filter((candidate) => candidate.startsWith(word));
  const nearest = (longer.length === 1 ? longer[0] : undefined) ?? findNearest(word, candidates);
  if (nearest !== null && word.length > 1) return `; did you mean "${prefix}${nearest}"?`;
  return prefix === "--" || candidates.length > MAX_LISTED
    ? ""
    : `; the subcommands are: ${candidates.join(", ")}`;
}

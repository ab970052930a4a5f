import { sanitizeText } from "../../core/config/problem.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
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
  return new WrongUsage(rephrase(message, path, known), hintFor(path, known.words, known.options));
}

/** The example is the one that has an option of the command line, if there is one. */
function hintFor(path: string, words: readonly string[], known: readonly string[]): string {
  const examples = examplesOf(path);
  const typed = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/=.*/, ""));
  const options = typed.map((option) => nearestOption(option, known));
  const instead = findInstead(path, words);
  if (instead !== null) return instead;
  const example =
    examples.find((line) => options.some((option) => `${line} `.includes(` ${option} `))) ?? examples[0];
  if (example === undefined) return "to see all commands, type: tollkeeper --help";
  return `for example: ${example}; for more, type: tollkeeper ${path} --help`;
}

/** Returns the option that a mistyped one probably stands for, else the option as it was typed. */
function nearestOption(option: string, known: readonly string[]): string {
  const name = option.replace(/^-+/, "");
  const nearest = known.includes(name) ? name : findNearest(name, known);
  return nearest === null ? option : `--${nearest}`;
}

/** A period, which people type as an argument of `usage`; any other word there is a tool. */
const PERIOD = /^(?:\d+[hdwm]?|today|yesterday|\d{4}-.*|(?:this|last)?[ -]?(?:week|month|year))$/i;

function findInstead(path: string, words: readonly string[]): string | null {
  const [argument] = words
    .slice(1)
    .filter((word, at) => !word.startsWith("-") && words[at]?.startsWith("-") === false);
  if (path === "usage" && argument !== undefined) {
    const option = PERIOD.test(argument) ? "--since" : "--tool";
    return `type: ${formatCommand(["tollkeeper", "usage", option, sanitizeText(argument)])}`;
  }
  for (const [index, word] of words.entries()) {
    const [option = "", given = words[index + 1]] = word.split("=");
    const instead = INSTEAD[`${path} ${option}`];
    if (instead === undefined) continue;
    return `${instead.hint} ${/^\d+$/.test(given ?? "") ? given : instead.value}`;
  }
  return null;
}

function rephrase(message: string, path: string, known: Knowledge): string {
  const [, unknown] = /^Unknown (?:argument|command)s?: ([^,]+)/.exec(message) ?? [];
  if (unknown !== undefined) return describeUnknown(unknown, path, known);
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
  if (path === "") return `there is no command "${sanitizeText(word)}"${suggest(word, commands, "")}`;
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

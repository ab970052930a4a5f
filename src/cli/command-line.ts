import type { Argv } from "yargs";
import { refuseMissingConfig } from "../daemon/named-config.ts";
import { findWorkingDirectory, programVersion } from "../adapters/program.ts";
import { adoptTimeZone } from "../adapters/time-zone.ts";
import { Failure, hasCode, messageOf } from "../core/failure.ts";
import { findOptionFault } from "./command-line/check-options.ts";
import { examplesOf, findCommandPath } from "./command-line/examples.ts";
import { layOutCommandHelp } from "./command-line/command-help.ts";
import { explainWrongUsage, findUnknownCommand } from "./command-line/explain-wrong-usage.ts";
import { renderGeneralHelp } from "./command-line/general-help.ts";
import { holdsKey, keyAsArgument } from "./command-line/key-as-argument.ts";
import { useConfigFile } from "./config-in-use.ts";
import { refuseForeignHome } from "./refuse-foreign-home.ts";
import { EXIT, hasColours, note, print, printFailure, printStyled } from "./terminal/console.ts";
import { withProgramName } from "./terminal/program-name.ts";
import { inTone } from "./terminal/styles.ts";

export type { ArgumentsCamelCase, Argv } from "yargs";

/** A command of the program. Its module is loaded only when it is needed: the modules of `check` alone take 25 ms. */
export interface ProgramCommand {
  /** The word that calls it. */
  name: string;
  /** The word with its arguments: `connect [tool]`. */
  usage: string;
  /** What it does, for the general help. */
  describe: string;
  /** Adds it to a yargs instance, which loads its module when it is called. */
  addTo(program: Argv<object>): void;
  /** Runs it without options, without yargs. Resolves to false when it needs yargs for that, too. */
  runAlone(): Promise<boolean>;
}

/** Commands for one purpose, as the general help lists them. */
export interface CommandGroup {
  title: string;
  commands: readonly ProgramCommand[];
}

const MAX_WIDTH = 100;

const SHORT_HELP = `\
tollkeeper keeps your API key out of your tools and shows how many tokens each tool uses.

  tollkeeper setup             set up everything: upstream, key, background service, tools
  tollkeeper serve             run in the foreground; with nothing configured, a built-in sandbox responds
  tollkeeper connect --list    see which tools can be connected
  tollkeeper usage             see how many tokens each tool used
  tollkeeper doctor            find problems and how to fix them
  tollkeeper --help            see all commands`;

/** Runs the command that the arguments name. Rejects with what the command throws, and with `WrongUsage`. */
export async function runCommandLine(
  args: readonly string[],
  groups: readonly CommandGroup[],
): Promise<void> {
  tolerateOutputErrors();
  // What `run` starts gets the variable as it is.
  const warning = args[0] === "run" ? null : adoptTimeZone();
  if (warning !== null) note(`warning: ${warning}`);
  const words = spellOut(args);
  const commands = groups.flatMap((group) => group.commands);
  if (words.length === 0) return printShortHelp();
  if (ownWords(words).some(holdsKey)) throw keyAsArgument(words[0]);
  if (VERSION_OPTIONS.has(words[0] ?? "")) return print(programVersion());
  const alone = words.length === 1 ? commands.find(({ name }) => name === words[0]) : undefined;
  if (alone !== undefined) {
    refuseForeignHome(alone.name);
    if (await alone.runAlone()) return;
  }
  const known = { words, commands: commands.map(({ name }) => name), options: [] };
  const unknown = await findUnknownCommand(known);
  if (unknown !== null) throw unknown;
  if (asksForHelp(words)) {
    // Help is about every configuration.
    useConfigFile(undefined);
    if (findCommandPath(words) === "")
      return printStyled(renderGeneralHelp(groups, helpWidth(), hasColours()));
    return printStyled(await renderHelp(await createProgram(words, commands), words));
  }
  await (await createProgram(words, commands)).parseAsync();
}

/** `node` and `npm` know the second, `python` and `rustc` the third. */
const VERSION_OPTIONS: ReadonlySet<string> = new Set(["--version", "-v", "-V"]);

/** Turns `help [COMMAND]` into the option of that name. */
function spellOut(args: readonly string[]): string[] {
  const [first, ...rest] = args;
  return first === "help" ? [...rest, "--help"] : [...args];
}

/** Returns the words before `--`, behind which the command line of another program begins. */
function ownWords(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return end === -1 ? words : words.slice(0, end);
}

function asksForHelp(words: readonly string[]): boolean {
  return ownWords(words).some((word) => word === "--help" || word === "-h");
}

function helpWidth(): number {
  return Math.min(MAX_WIDTH, process.stdout.columns || MAX_WIDTH);
}

function printShortHelp(): void {
  note(SHORT_HELP);
  process.exitCode = EXIT.usage;
}

async function renderHelp(program: Argv<object>, words: readonly string[]): Promise<string> {
  const help = withProgramName(await program.getHelp());
  const laidOut = layOutCommandHelp(help, helpWidth(), hasColours());
  const examples = examplesOf(findCommandPath(words));
  if (examples.length === 0) return laidOut;
  const lines = examples.map((line) => withProgramName(`  ${line}`));
  return [laidOut, "", inTone("Examples:", "strong", hasColours()), ...lines].join("\n");
}

async function createProgram(
  words: readonly string[],
  commands: readonly ProgramCommand[],
): Promise<Argv<object>> {
  const program = await loadYargs(words);
  skipUnseenHelp(program);
  const [first] = words;
  const called = commands.filter(({ name }) => name === first);
  for (const { addTo } of called.length > 0 ? called : commands) addTo(program);
  return (
    program
      .scriptName("tollkeeper")
      // The default is the locale's; what `explainWrongUsage` rephrases is the English text.
      .locale("en")
      // Both are handled before, because yargs would print help without our examples.
      .help(false)
      .version(false)
      .options(first === WITHOUT_CONFIG ? {} : CONFIG)
      .option("help", { alias: "h", type: "boolean", global: true, describe: "Show help" })
      .demandCommand(1)
      .strict()
      .wrap(null)
      .check((argv, options) => {
        const fault = findOptionFault(words, argv, options as never);
        if (fault !== null) return fault;
        refuseForeignHome(argv._.join(" "));
        checkNamedConfig(argv._.join(" "), argv["config"] as string | undefined);
        return true;
      }, true)
      .fail((message, error) => {
        // `error` is what a command threw; for wrong usage there is only a message.
        if (error instanceof Error) throw error;
        throw explainWrongUsage(message, {
          words,
          commands: commands.map(({ name }) => name),
          options: Object.keys(optionsOf(program).key),
        });
      })
  );
}

/** yargs asks for the working directory, in which it reads nothing. That may have been deleted. */
async function loadYargs(words: readonly string[]): Promise<Argv<object>> {
  const { cwd } = process;
  if (findWorkingDirectory() === null) process.cwd = () => "/";
  try {
    const { default: yargs } = await import("yargs");
    return yargs(words);
  } finally {
    process.cwd = cwd;
  }
}

/** It runs where there is no configuration: in containers and on remote hosts. */
const WITHOUT_CONFIG = "bridge";

const CONFIG = { config: { type: "string", global: true, describe: "Configuration file to use" } } as const;

/** Keeps yargs from rendering the help of each command that it calls, which took 25 ms, to have it where the command fails. */
function skipUnseenHelp(program: Argv<object>): void {
  const { getUsageInstance } = (
    program as unknown as {
      getInternalMethods(): { getUsageInstance(): { cacheHelpMessage(): void } };
    }
  ).getInternalMethods();
  getUsageInstance().cacheHelpMessage = () => {};
}

/** Commands that create the configuration file where there is none. */
const CREATE_CONFIG = [
  "config edit",
  "config set",
  "setup",
  "budget set",
  "group set",
  "alias set",
  "brake set",
];

function checkNamedConfig(command: string, file: string | undefined): void {
  if (file !== undefined && !CREATE_CONFIG.includes(command)) refuseMissingConfig(file);
}

/** What yargs knows of the options of the command that it has parsed last. Its types leave the method out. */
function optionsOf(program: Argv<object>): {
  key: object;
  choices: Readonly<Record<string, readonly string[]>>;
} {
  return (program as unknown as { getOptions(): ReturnType<typeof optionsOf> }).getOptions();
}

/**
 * Returns the options of the command that the words call, each as it is typed. After an option that takes one of a few values,
 * returns those.
 */
export async function completeOptions(
  words: readonly string[],
  commands: readonly ProgramCommand[],
): Promise<string[]> {
  const program = await createProgram(words, commands);
  await program.getHelp();
  const { key, choices } = optionsOf(program);
  const values = choices[words.at(-1)?.replace(/^--/, "") ?? ""];
  return [
    ...(values ??
      Object.keys(key)
        .filter((name) => name.length > 1 && !/[A-Z]/.test(name))
        .map((name) => `--${name}`)),
  ];
}

/**
 * Lets a command complete when its output cannot be written, because a change made by half would be worse than lost
 * output. A closed pipe (`| head`) is not an error; any other output error makes the program exit with 1.
 */
function tolerateOutputErrors(): void {
  process.stderr.on("error", setExitCode);
  process.stdout.on("error", setExitCode);
  process.stdout.once("error", (error) => {
    if (isReaderGone(error)) return;
    const message = `cannot write to standard output: ${messageOf(error)}`;
    const hint = "the command completed; free disk space or redirect its output";
    printFailure(new Failure(message, hint));
  });
}

function setExitCode(error: unknown): void {
  if (!isReaderGone(error)) process.exitCode = EXIT.failed;
}

/** True when a pipe's reader or the terminal has closed (write(2)). */
function isReaderGone(error: unknown): boolean {
  return hasCode(error, "EPIPE") || hasCode(error, "EIO");
}

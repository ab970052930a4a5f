import { askRunning } from "../../daemon/running-daemon.ts";
import type { BudgetsStatus, BudgetStatus } from "../../core/budget/budget-status.ts";
import { BUDGET_CLASSES, BUDGET_PERIODS } from "../../core/budget/kinds.ts";
import { explainAbsence } from "../service/explain-absence.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { parseDuration } from "../budget/duration.ts";
import { findBudget } from "../budget/find-budget.ts";
import { describeAssumed, formatBudgets, formatLift, nameBudget } from "../budget/format-budgets.ts";
import { removeBudget, setBudget, type BudgetEntry } from "../budget/change-budget.ts";
import { readHours, readTokens, readUsd } from "../budget/amounts.ts";
import { newToolOption, requireKnownTool } from "../known-tools.ts";
import type { Argv } from "../command-line.ts";
import { reportOptions, type Command, type ReportArguments } from "../command.ts";
import { readIfValid, resolveConfigPath } from "../load-config.ts";
import { hasColours, note, print, printJson, printStyled } from "../terminal/console.ts";
import { printProse } from "../terminal/prose.ts";
import { onlyOneOf, WrongUsage } from "../wrong-usage.ts";

/** `tollkeeper budget`: shows where each budget stands; lifts, resets and sets them. */
export const command: Command<ReportArguments> = {
  builder: (yargs) =>
    reportOptions(yargs)
      .command("lift [tool]", "Let no budget refuse a tool for a while", liftOptions, (args) =>
        lift({ ...args, durationMs: args.end ? 0 : durationOf(args.for) }),
      )
      .command(
        "reset [budget]",
        "Let the window of a budget begin now, so that nothing of it is spent",
        (args) =>
          args.positional("budget", {
            type: "string",
            describe: "Name of the budget, from tollkeeper budget --json",
          }),
        ({ budget }) => reset(budget),
      )
      .command("list", "Show where each budget stands", reportOptions, ({ json }) => show(json))
      .command("set [tool]", "Set a budget in the configuration file", setOptions, async (args) =>
        setBudget(resolveConfigPath(args.config), args, entryOf(args)),
      )
      .command(
        "remove [tool]",
        "Remove a budget from the configuration file",
        termOptions,
        async ({ config, ...args }) => removeBudget(resolveConfigPath(config), args, entryOf(args)),
      ),
  handler: ({ json }) => show(json),
};

function liftOptions(yargs: Argv<object>) {
  return newToolOption(yargs)
    .option("config", { type: "string" })
    .positional("tool", { type: "string", describe: "Name of the tool" })
    .option("all", { type: "boolean", default: false, describe: "For all tools" })
    .option("for", { type: "string", default: "1h", describe: "How long: 30m, 2h, 1d" })
    .option("end", { type: "boolean", default: false, describe: "End the lift now" });
}

function setOptions(yargs: Argv<object>) {
  return newToolOption(termOptions(yargs)).option("warn-only", {
    type: "boolean",
    default: false,
    describe: "Warn, and refuse nothing",
  });
}

/** What tells the budgets of one owner apart, and their owner. */
function termOptions(yargs: Argv<object>) {
  return yargs
    .option("config", { type: "string" })
    .positional("tool", { type: "string", describe: "Tool that the budget is for" })
    .option("group", { type: "string", describe: "Group that the budget is for" })
    .option("project", { type: "string", describe: "Directory of the project that the budget is for" })
    .option("key", { type: "string", describe: "Key that the budget is for" })
    .option("all", { type: "boolean", default: false, describe: "For all tools together" })
    .option("usd", { type: "string", describe: "The limit in US dollars: 20, 0.5 or 1.5k" })
    .option("tokens", { type: "string", describe: "The limit in tokens: 2000000, 2M or 500k" })
    .option("class", { choices: BUDGET_CLASSES, describe: "Which tokens count; default: all" })
    .option("per", { choices: BUDGET_PERIODS, describe: "The window, in local time" })
    .option("rolling", { type: "string", describe: "The window: the last so many hours, such as 5 or 2d" });
}

function entryOf(args: {
  usd?: string | undefined;
  tokens?: string | undefined;
  class?: string | undefined;
  per?: string | undefined;
  rolling?: string | undefined;
  warnOnly?: boolean;
}): BudgetEntry {
  const { usd, tokens, per, rolling, warnOnly } = args;
  return {
    ...(usd !== undefined && { usd: readUsd(usd) }),
    ...(tokens !== undefined && { tokens: readTokens(tokens) }),
    ...(args.class !== undefined && { class: args.class }),
    ...(per !== undefined && { per }),
    ...(rolling !== undefined && { rolling: readHours(rolling) }),
    ...(warnOnly === true && { action: "warn" }),
  };
}

function durationOf(text: string): number {
  const duration = parseDuration(text);
  if (duration === null) {
    const isTooLong = /^[1-9]\d*[mhd]$/.test(text);
    const what = isTooLong ? `${text} is longer than 31 days` : `"${sanitizeText(text)}" is not a duration`;
    throw new WrongUsage(what, "type for example: --for 30m, --for 2h or --for 1d; at most 31d");
  }
  return duration;
}

async function show(asJson: boolean): Promise<void> {
  const status = await ask("budgets");
  if (asJson) return printJson(status);
  const now = Date.now();
  if (status.budgets.length === 0) printProse(NO_BUDGET);
  else {
    const width = process.stdout.columns || Infinity;
    printStyled(formatBudgets(status.budgets, now, { width, isColoured: hasColours() }));
    const assumed = describeAssumed(status.budgets);
    if (assumed.length > 0) printProse(["", ...assumed]);
  }
  for (const one of status.lifts) note(formatLift(one, now));
}

/** Said where none is set. */
export const NO_BUDGET = [
  "No budget is set. To set one, type for example:",
  "  tollkeeper budget set codex --usd 20 --per day",
];

/** Whose budgets are lifted, and for how long; 0 ends a lift. */
interface LiftRequest {
  config?: string | undefined;
  tool: string | undefined;
  all: boolean;
  new: boolean;
  durationMs: number;
}

async function lift({ config, tool: word, all, new: isNew, durationMs }: LiftRequest): Promise<void> {
  if (word === undefined && !all)
    throw new WrongUsage("name a tool, or --all", "type for example: tollkeeper budget lift codex --for 1h");
  if (word !== undefined && all) throw onlyOneOf([`"${word}"`, "--all"]);
  const tool =
    word === undefined || word === "all"
      ? undefined
      : await requireKnownTool(word, await readIfValid(config), isNew);
  const { budgets, lifts } = await ask("lift-budgets", {
    ...(tool !== undefined && { tool }),
    ms: String(durationMs),
  });
  if (durationMs === 0) print(`Budgets refuse ${tool ?? "every tool"} again once they are spent.`);
  for (const one of lifts) print(formatLift(one, Date.now()));
  if (durationMs > 0)
    for (const locked of budgets.filter(isLeft(tool))) note(`${EXCEPT}: ${nameBudget(locked)}`);
}

const EXCEPT = "not lifted, because an administrator has locked it";

/** True for budgets that may refuse a tool in spite of a lift; undefined for all tools. */
function isLeft(tool: string | undefined) {
  return ({ isLocked, action, scope }: BudgetStatus) =>
    isLocked && action === "refuse" && (tool === undefined || scope.kind !== "tool" || scope.name === tool);
}

async function reset(name: string | undefined): Promise<void> {
  const budget = findBudget((await ask("budgets")).budgets, name);
  await ask("reset-budget", { id: budget.id });
  print(`Nothing is spent of ${nameBudget(budget)} now; the ledger keeps every record.`);
}

async function ask(
  question: "budgets" | "lift-budgets" | "reset-budget",
  query: Record<string, string> = {},
): Promise<BudgetsStatus> {
  const answer = await askRunning(question, query);
  if (answer === null) throw await explainAbsence();
  return answer;
}

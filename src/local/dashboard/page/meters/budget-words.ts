import { formatCommand } from "../../../../core/text/shell-words.ts";
import type { Status } from "../feed-types.ts";
import { formatCount, formatDollars, formatNear } from "../numbers.ts";
import { nameProject } from "../project-names.ts";

export type Budget = Status["budgets"][number];

/** Says whose requests these budgets are about: ` of codex and group work`; empty for those of all tools. */
export function whomOf(budgets: readonly Budget[]): string {
  if (budgets.some(({ scope }) => scope.kind === "all")) return "";
  return ` of ${[...new Set(budgets.map(({ scope }) => nameScope(scope, nameProject)))].join(" and ")}`;
}

/** Says in few words whom a budget is for, and when: `codex per day`, `all tools in 5 hours`. Of a project's path, its name. */
export function nameOf({ scope, window }: Budget, shorten = nameProject): string {
  const whom = nameScope(scope, shorten);
  if ("per" in window) return `${whom} per ${window.per}`;
  return `${whom} in ${window.rolling === 1 ? "1 hour" : `${window.rolling} hours`}`;
}

function nameScope(scope: Budget["scope"], shorten: (name: string) => string): string {
  if (scope.kind === "all") return "all tools";
  if (scope.kind === "tool") return scope.name;
  return `${scope.kind} ${scope.kind === "project" ? shorten(scope.name) : scope.name}`;
}

/** What an amount of a budget is of: nothing for dollars. */
export function unitOf({ limit }: Budget): string {
  if ("usd" in limit) return "";
  return limit.class === null ? " tokens" : ` tokens (${limit.class})`;
}

/** True if requests are refused because this budget is spent. */
export function isRefusing({ percent, action, scope }: Budget, lifts: Status["lifts"]): boolean {
  const isLifted = lifts.some(({ tool }) => tool === null || (scope.kind === "tool" && scope.name === tool));
  return percent >= 100 && action === "refuse" && !isLifted;
}

/** How amounts of a budget are written: dollars, or tokens. */
export function formatOf({ limit }: Budget): (amount: number) => string {
  return "usd" in limit ? formatDollars : formatCount;
}

/** What sets the price of a model. Other programs choose its name: it is quoted for the shell, and has no command if it could act on a terminal. */
export function priceCommand(model: string): string[] {
  return /\p{C}/u.test(model) ? [] : [formatCommand(["tollkeeper", "prices", model])];
}

/** The same in a sentence. */
export function priceHint(model: string): string[] {
  return priceCommand(model).map((command) => `To set one, type: ${command}`);
}

/** Says until when a spent budget refuses: ` until 6:00 PM`. Empty for one that never opens. */
export function describeUntil({ opens_at: opens }: Budget): string {
  return opens === null ? "" : ` until ${formatNear(opens)}`;
}

/** Says whom a spent budget refuses: `codex is refused until 6:00 PM`. */
export function describeRefused(budget: Budget): string {
  const { scope } = budget;
  return `${nameScope(scope, nameProject)} ${scope.kind === "all" ? "are" : "is"} refused${describeUntil(budget)}`;
}

/** What lets requests go on; nothing if an administrator has locked all of these budgets. */
export function liftCommand(spent: readonly Budget[]): string[] {
  const open = spent.filter(({ is_locked: isLocked }) => !isLocked);
  const [only] = open;
  if (only === undefined) return [];
  const whom = open.length === 1 && only.scope.kind === "tool" ? only.scope.name : "--all";
  return [`tollkeeper budget lift ${whom}`];
}

/** The same in a sentence. */
export function liftHint(spent: readonly Budget[]): string[] {
  return liftCommand(spent).map((command) => `To let requests go on, type: ${command}`);
}

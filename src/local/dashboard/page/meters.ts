import { describeWindow, RETRY } from "../../../core/limits/limit-names.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import type { Limits, Status } from "./feed-types.ts";
import { describeMovers } from "./health/movers.ts";
import { lastPart } from "./live/last-part.ts";
import { formatCount, formatDollars, formatNear, formatShare } from "./numbers.ts";

/** Empty where nothing is wrong. */
type Tone = "" | "warning" | "failure";

/** How much of something is used, as a bar with its name above it and what comes next below. */
export interface Meter {
  name: string;
  /** The same with whole paths and accounts. */
  wholeName: string;
  /** May be over 100. */
  percent: number;
  /** The part of `percent` that is assumed. */
  assumed: number;
  used: string;
  tone: Tone;
  /** What comes next, in a sentence; empty if nothing does. */
  next: string;
  /** What comes next, where that is bad, and how much is assumed, in sentences for where there is little room; mostly none. */
  alarms: readonly string[];
  /** What else there is to know, in sentences. */
  more: readonly string[];
  /** Who used it; empty where that is not known. It may hold any name, and no command. */
  movers: string;
}

type Budget = Status["budgets"][number];

/** As many models without a price as are named. */
const MOST_MODELS = 3;
/** Services warn from here on, too. */
const FULL_SOON = 80;

/** Returns the meter of each budget. */
export function budgetMeters({ budgets, lifts }: Pick<Status, "budgets" | "lifts">): Meter[] {
  return budgets.map((budget) => {
    const { percent, spent, amount, assumed } = budget;
    const format = formatOf(budget);
    const isSpent = isRefusing(budget, lifts);
    // Only nothing is 0 %.
    const share = percent === 0 && Number(spent) > 0 ? "<1" : percent;
    return {
      name: nameOf(budget),
      wholeName: nameOf(budget, (name) => name),
      percent,
      assumed: (100 * Number(assumed)) / Number(amount),
      used: `${share}% spent, ${format(Number(spent))} of ${format(Number(amount))}${unitOf(budget)}`,
      tone: toneOf(budget),
      next: nextOf(budget, lifts),
      alarms: [
        ...(isSpent || isSpentSoon(budget) ? [nextOf(budget, lifts)] : []),
        ...(isSpent && Number(assumed) > 0 ? [`${format(Number(assumed))} of it is assumed`] : []),
      ],
      more: [...assumptionsOf(budget), ...(isSpent ? liftHint([budget]) : [])],
      movers: "",
    };
  });
}

/**
 * Returns the meters of the limits that services have reported, the fullest first within an account.
 * @param moved - who used each window; null while that is not known
 */
export function limitMeters(
  { limits, holds }: Pick<Status, "limits" | "holds">,
  moved: Limits | null = null,
): Meter[] {
  return limits.flatMap(({ account, windows }) =>
    windows.flatMap((window) => {
      const { used_percent: percent, state, resets_at: resets, seen_at: seen } = window;
      if (window.window === RETRY || percent === null || state === "reset") return [];
      return {
        name: `${nameAccount(account, limits)}, ${describeWindow(window.window).replace(/^the /, "")}`,
        wholeName: `${account}, ${describeWindow(window.window)}`,
        percent,
        assumed: 0,
        used: `${formatShare(percent, 100)} used`,
        tone: percent >= FULL_SOON ? "warning" : "",
        next: `${resets === null ? "As" : `Resets ${formatNear(resets)}, as`} of ${formatNear(seen)}`,
        alarms: [],
        more: holds
          .filter((hold) => hold.account === account && hold.window === window.window)
          .map(describeHold),
        movers: moversOf(account, window.window, moved),
      };
    }),
  );
}

function moversOf(account: string, window: string, moved: Limits | null): string {
  const windows = moved?.accounts.find((one) => one.account === account)?.windows;
  const movedBy = windows?.find((one) => one.window === window)?.moved_by ?? null;
  return movedBy === null ? "" : describeMovers(movedBy);
}

/** Says that a brake keeps what is left of the window, and how to let requests pass. */
function describeHold({ kind, name, keep, lift }: Status["holds"][number]): string {
  const whom = kind === "tool" ? name : `Group ${name}`;
  return `${whom} waits until the reset, as its brake keeps ${keep}%. To let it pass, type: ${lift}`;
}

/** Names an account for people: `plan:claude/3f2a91c0` is `Claude plan`, with its id only where there are two of that plan. */
function nameAccount(account: string, all: readonly { account: string }[]): string {
  return account.replace(
    /^(plan:(.)([^/]*))\/?(.*)$/,
    (_, plan: string, first: string, rest: string, id: string) => {
      const isOnly = all.filter((one) => one.account.startsWith(plan)).length === 1;
      return `${first.toUpperCase()}${rest} plan${isOnly ? "" : ` ${id}`}`;
    },
  );
}

/** Says in few words whom a budget is for, and when: `codex per day`, `all tools in 5 hours`. Of a project's path, the last part. */
export function nameOf({ scope, window }: Budget, shorten = lastPart): string {
  const named = scope.kind === "all" || scope.kind === "tool" ? "" : `${scope.kind} `;
  const whom =
    scope.kind === "all"
      ? "all tools"
      : `${named}${scope.kind === "project" ? shorten(scope.name) : scope.name}`;
  if ("per" in window) return `${whom} per ${window.per}`;
  return `${whom} in ${window.rolling === 1 ? "1 hour" : `${window.rolling} hours`}`;
}

function unitOf({ limit }: Budget): string {
  if ("usd" in limit) return "";
  return limit.class === null ? " tokens" : ` tokens (${limit.class})`;
}

/** Amber from the first share at which the budget warns; red once it refuses. */
function toneOf({ percent, action, warn }: Budget): Tone {
  if (percent >= 100 && action === "refuse") return "failure";
  return percent >= 100 * Math.min(1, ...warn) ? "warning" : "";
}

/** True if requests are refused because this budget is spent. */
export function isRefusing({ percent, action, scope }: Budget, lifts: Status["lifts"]): boolean {
  const isLifted = lifts.some(({ tool }) => tool === null || (scope.kind === "tool" && scope.name === tool));
  return percent >= 100 && action === "refuse" && !isLifted;
}

function nextOf(budget: Budget, lifts: Status["lifts"]): string {
  const { action, window, until, spent_at: spentAt } = budget;
  if (isRefusing(budget, lifts)) return `Refused${describeUntil(budget)}`;
  return [
    ...(action === "refuse" ? [] : ["Only warns"]),
    ...(spentAt !== null && isSpentSoon(budget) ? [`At this rate, spent by ${formatNear(spentAt)}`] : []),
    // A rolling window has no moment at which it begins again.
    ...("rolling" in window ? [] : [`Starts over ${formatNear(until)}`]),
  ].join(". ");
}

/** Whether it will be spent before its window ends, at the rate until now. */
function isSpentSoon({ spent_at: spentAt, percent }: Budget): boolean {
  return spentAt !== null && percent < 100;
}

/** How amounts of a budget are written: dollars, or tokens. */
export function formatOf({ limit }: Budget): (amount: number) => string {
  return "usd" in limit ? formatDollars : formatCount;
}

function assumptionsOf(budget: Budget): string[] {
  return budget.assumed_for
    .slice(0, MOST_MODELS)
    .map(({ model, amount }) =>
      [
        `${formatDollars(Number(amount))} is assumed for ${model}, which has no price`,
        ...priceHint(model),
      ].join(". "),
    );
}

/** How to set the price of a model. Other programs choose its name: it is quoted for the shell, and has no command if it could act on a terminal. */
export function priceHint(model: string): string[] {
  if (/\p{C}/u.test(model)) return [];
  return [`To set one, type: ${formatCommand(["tollkeeper", "prices", model])}`];
}

/** Says until when a spent budget refuses: ` until 6:00 PM`. Empty for one that never opens. */
export function describeUntil({ opens_at: opens }: Budget): string {
  return opens === null ? "" : ` until ${formatNear(opens)}`;
}

/** How to let requests go on; nothing if an administrator has locked all of these budgets. */
export function liftHint(spent: readonly Budget[]): string[] {
  const open = spent.filter(({ is_locked: isLocked }) => !isLocked);
  const [only] = open;
  if (only === undefined) return [];
  const whom = open.length === 1 && only.scope.kind === "tool" ? only.scope.name : "--all";
  return [`To let requests go on, type: tollkeeper budget lift ${whom}`];
}

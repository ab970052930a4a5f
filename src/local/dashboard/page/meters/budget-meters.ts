import type { Status } from "../feed-types.ts";
import { formatCount, formatDollars, formatNear } from "../numbers.ts";
import {
  describeRefused,
  describeUntil,
  formatOf,
  isRefusing,
  liftHint,
  nameOf,
  priceHint,
  unitOf,
  type Budget,
} from "./budget-words.ts";
import type { Meter, Tone } from "./meter.ts";

/** As many models without a price as are named. */
const MOST_MODELS = 3;

/** Returns the meter of each budget. */
export function budgetMeters({ budgets, lifts }: Pick<Status, "budgets" | "lifts">): Meter[] {
  return budgets.map((budget) => {
    const { percent, spent, amount, assumed } = budget;
    const isSpent = isRefusing(budget, lifts);
    // Only nothing is 0 %.
    const share = percent === 0 && Number(spent) > 0 ? "<1" : percent;
    return {
      name: nameOf(budget),
      wholeName: nameOf(budget, (name) => name),
      // So that little has a short bar, and only nothing has none.
      percent: percent === 0 ? (100 * Number(spent)) / Number(amount) : percent,
      // A budget of nothing is spent, and not by what is assumed.
      assumed: Number(amount) === 0 ? 0 : (100 * Number(assumed)) / Number(amount),
      used: describeUse(budget, share),
      tone: toneOf(budget),
      isRefusing: isSpent,
      next: nextOf(budget, lifts),
      alarms: outlookOf(budget),
      finding: findingOf(budget, isSpent),
      assumptions: assumptionsOf(budget),
      more: isSpent ? liftHint([budget]) : [],
      movers: "",
    };
  });
}

/** Percent of a budget. What is assumed of less changes no share that a reader acts on. */
const LEAST_ASSUMED = 1;

/** What is only assumed was not spent: it is named apart from what is known, unless it is little and the budget is far from its end. */
function describeUse(budget: Budget, share: number | string): string {
  const format = formatOf(budget);
  const [spent, assumed, amount] = [budget.spent, budget.assumed, budget.amount].map(Number);
  const of = `of ${format(amount ?? 0)}${unitOf(budget)}`;
  const [all, guessed] = [spent ?? 0, assumed ?? 0];
  const known = format(all - guessed);
  const isLittle = toneOf(budget) === "" && 100 * guessed < LEAST_ASSUMED * (amount ?? 0);
  if (guessed <= 0 || isLittle) return `${share}% spent, ${known} ${of}`;
  return `${share}%: ${known} known and ${format(guessed)} assumed, ${of}`;
}

/** Amber from the first share at which the budget warns; red once it refuses. */
function toneOf({ percent, action, warn }: Budget): Tone {
  if (percent >= 100 && action === "refuse") return "failure";
  return percent >= 100 * Math.min(1, ...warn) ? "warning" : "";
}

function nextOf(budget: Budget, lifts: Status["lifts"]): string {
  const { action, window, until } = budget;
  if (isRefusing(budget, lifts)) return `Refused${describeUntil(budget)}`;
  return [
    ...(action === "refuse" ? [] : ["Only warns"]),
    ...outlookOf(budget),
    // A rolling window has no moment at which it begins again.
    ...("rolling" in window ? [] : [`Starts over ${formatNear(until)}`]),
  ].join(". ");
}

function findingOf(budget: Budget, isRefused: boolean): string {
  if (isRefused) return describeRefused(budget);
  return toneOf(budget) === "" ? "" : `${nameOf(budget)} is ${budget.percent}% spent`;
}

/** When it will be spent, at the rate until now; nothing where its window ends before. */
function outlookOf({ spent_at: spentAt, percent }: Budget): string[] {
  return spentAt === null || percent >= 100 ? [] : [`At this rate, spent by ${formatNear(spentAt)}`];
}

/** Says once of each model that it has no price, however many budgets assume its cost. */
export function unpricedHints(budgets: readonly Budget[]): string[] {
  const models = [...new Set(budgets.flatMap((budget) => budget.assumed_for.map(({ model }) => model)))];
  const rest = models.length - MOST_MODELS;
  return [
    ...models
      .slice(0, MOST_MODELS)
      .map((model) => [`${model} has no price, so its cost is assumed`, ...priceHint(model)].join(". ")),
    ...(rest > 0 ? [`${formatCount(rest)} more ${rest === 1 ? "model has" : "models have"} no price`] : []),
  ];
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

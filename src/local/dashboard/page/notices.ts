import type { Status } from "./feed-types.ts";
import {
  describeUntil,
  formatOf,
  isRefusing,
  liftCommand,
  liftHint,
  nameOf,
  priceCommand,
  whomOf,
} from "./meters/budget-words.ts";

/** Something that a person should know whatever they look at. */
export interface Notice {
  /** What is wrong, and why. */
  text: string;
  /** What to do about it, each with its command at the end. */
  remedies: readonly string[];
  tone: "warning" | "failure";
  /** True for what the view of health says anyway. */
  isInHealth?: true;
}

/** Returns what is wrong, the worst first; nothing if all is well. */
export function noticesOf(status: Status): Notice[] {
  const { state, upstreams, budgets, lifts, keys, config, ledger, pauses, captures } = status;
  const said: Notice[] = [
    ...(state === "serving" ? [] : [failure(`tollkeeper is ${state}`)]),
    ...describeRefusing(budgets.filter((budget) => isRefusing(budget, lifts))),
    ...upstreams.flatMap(describeFailing).map((text) => failure(text)),
    ...keys.flatMap(({ name, problem }) => (problem === null ? [] : [failure(`Key ${name}: ${problem}`)])),
    ...(ledger.lost + ledger.waiting === 0 ? [] : [failure("Records cannot be written to the ledger.")]),
  ];
  return [
    ...said.map((notice) => ({ ...notice, isInHealth: true as const })),
    ...(pauses.length === 0
      ? []
      : [warning("Requests are paused.", "To let them go on, type: tollkeeper resume")]),
    ...captures.flatMap(({ tool, state: its }) =>
      its === "running"
        ? [warning(`Requests of ${tool} are captured.`, `To stop, type: tollkeeper capture stop ${tool}`)]
        : [],
    ),
    ...(config.problems.length === 0 ? [] : [warning("The changed configuration is not accepted.")]),
    ...(config.overruled.length === 0
      ? []
      : [warning("A part of your configuration is not used, because it is locked.")]),
    ...(upstreams.some((upstream) => upstream.is_sandbox)
      ? [
          warning(
            "Sandbox: responses and tokens are made up, and nothing is spent.",
            "To use a service, type: tollkeeper setup",
          ),
        ]
      : []),
  ];
}

function failure(text: string, ...remedies: readonly string[]): Notice {
  return { text, remedies, tone: "failure" };
}

function warning(text: string, ...remedies: readonly string[]): Notice {
  return { text, remedies, tone: "warning" };
}

type Budgets = Status["budgets"];

/** One sentence for all budgets that are spent, and one for those that only count as spent: five would hide everything else. */
function describeRefusing(refusing: Budgets): Notice[] {
  return [
    ...describeAssumed(refusing.filter(isSpentByAssumption)),
    ...describeSpent(refusing.filter((budget) => !isSpentByAssumption(budget))),
  ];
}

/** Whether a budget refuses only because of what is assumed for models without a price. */
function isSpentByAssumption({ spent, assumed, amount }: Budgets[number]): boolean {
  return Number(spent) - Number(assumed) < Number(amount);
}

function describeSpent(spent: Budgets): Notice[] {
  const [first] = spent;
  if (first === undefined) return [];
  const what =
    spent.length === 1
      ? `The budget of ${formatOf(first)(Number(first.amount))} (${nameOf(first)}) is spent.`
      : `${spent.length} budgets are spent: ${listNames(spent)}.`;
  return [failure(`${describeRefusals(spent)} ${what}`, ...liftHint(spent))];
}

/** As many models as are named. */
const MOST_MODELS = 2;

/** Says what is known to be spent, and what is only assumed, and for which models. */
function describeAssumed(assumed: Budgets): Notice[] {
  const [first] = assumed;
  if (first === undefined) return [];
  const models = [...new Set(assumed.flatMap((budget) => budget.assumed_for.map(({ model }) => model)))];
  const named = models.slice(0, MOST_MODELS);
  const names = [...named, ...(models.length > MOST_MODELS ? [`${models.length - MOST_MODELS} more`] : [])];
  const cause = `as ${names.join(" and ")} ${models.length === 1 ? "has" : "have"} no price`;
  const format = formatOf(first);
  const [known, guessed] = [Number(first.spent) - Number(first.assumed), Number(first.assumed)].map(format);
  const what =
    assumed.length === 1
      ? `The budget of ${format(Number(first.amount))} (${nameOf(first)}) counts ${known} known and ${guessed} assumed, ${cause}.`
      : `${assumed.length} budgets count as spent: ${listNames(assumed)}. A part is assumed, ${cause}.`;
  const prices = named.flatMap(priceCommand);
  const title = models.length === 1 ? "Set its price" : "Set a price";
  const lifts =
    prices.length === 0
      ? liftHint(assumed)
      : liftCommand(assumed).map((command) => `Or let requests go on: ${command}`);
  return [
    failure(
      `${describeRefusals(assumed)} ${what}`,
      ...prices.map((command) => `${title}: ${command}`),
      ...lifts,
    ),
  ];
}

function listNames(budgets: Budgets): string {
  return budgets.map((budget) => nameOf(budget)).join(", ");
}

/** Such as `Requests are refused until 6:00 PM. Requests of codex are refused until tomorrow, 12:00 AM.` */
function describeRefusals(budgets: Budgets): string {
  const byUntil = new Map<string, Budgets[number][]>();
  for (const budget of budgets) {
    const until = describeUntil(budget);
    byUntil.set(until, [...(byUntil.get(until) ?? []), budget]);
  }
  return [...byUntil].map(([until, own]) => `Requests${whomOf(own)} are refused${until}.`).join(" ");
}

function describeFailing({ name, failing }: Status["upstreams"][number]): string[] {
  return failing === null ? [] : [`Upstream ${name} fails: ${failing.summary}`];
}

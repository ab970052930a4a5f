import type { Status } from "./feed-types.ts";
import { describeUntil, isRefusing, liftHint, nameOf } from "./meters.ts";

/** Something that a person should know whatever they look at. */
export interface Notice {
  text: string;
  tone: "warning" | "failure";
  /** True for what the view of health says anyway. */
  isInHealth?: true;
}

/** Returns what is wrong, the worst first; nothing if all is well. */
export function noticesOf(status: Status): Notice[] {
  const { state, upstreams, budgets, lifts, keys, config, ledger, pauses, captures } = status;
  const said: Notice[] = [
    ...(state === "serving" ? [] : [failure(`tollkeeper is ${state}`)]),
    ...describeSpent(budgets.filter((budget) => isRefusing(budget, lifts))),
    ...upstreams.flatMap(describeFailing).map((text) => failure(text)),
    ...keys.flatMap(({ name, problem }) => (problem === null ? [] : [failure(`Key ${name}: ${problem}`)])),
    ...(ledger.lost + ledger.waiting === 0 ? [] : [failure("Records cannot be written to the ledger.")]),
  ];
  return [
    ...said.map((notice) => ({ ...notice, isInHealth: true as const })),
    ...(pauses.length === 0
      ? []
      : [warning("Requests are paused. To let them go on, type: tollkeeper resume")]),
    ...captures.flatMap(({ tool, state: its }) =>
      its === "running"
        ? [warning(`Requests of ${tool} are captured. To stop, type: tollkeeper capture stop ${tool}`)]
        : [],
    ),
    ...(config.problems.length === 0 ? [] : [warning("The changed configuration is not accepted.")]),
    ...(config.overruled.length === 0
      ? []
      : [warning("A part of your configuration is not used, because it is locked.")]),
    ...(upstreams.some((upstream) => upstream.is_sandbox)
      ? [
          warning(
            "Sandbox: responses and tokens are made up, and nothing is spent. To use a service, type: tollkeeper setup",
          ),
        ]
      : []),
  ];
}

function failure(text: string): Notice {
  return { text, tone: "failure" };
}

function warning(text: string): Notice {
  return { text, tone: "warning" };
}

/** One sentence for all spent budgets: five would hide everything else. */
function describeSpent(spent: Status["budgets"]): Notice[] {
  if (spent.length === 0) return [];
  const namesUntil = new Map<string, string[]>();
  for (const budget of spent) {
    const until = describeUntil(budget);
    namesUntil.set(until, [...(namesUntil.get(until) ?? []), nameOf(budget)]);
  }
  const refused = [...namesUntil].map(([until, names]) => `${names.join(", ")}, refused${until}`);
  const what = spent.length === 1 ? "A budget is spent" : `${spent.length} budgets are spent`;
  return [failure([`${what}: ${refused.join("; ")}`, ...liftHint(spent)].join(". "))];
}

function describeFailing({ name, failing }: Status["upstreams"][number]): string[] {
  return failing === null ? [] : [`Upstream ${name} fails: ${failing.summary}`];
}

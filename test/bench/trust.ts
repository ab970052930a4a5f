import type { BenchResult, ScenarioResult, TargetResult } from "./result.ts";

/** Above this share a round was disturbed. 0.1 to 0.2 are due to V8's own helper threads (docs/performance.md). */
const DISTURBED = 0.4;
/** Above this share client and upstream may be the bottleneck. */
const SATURATED = 0.9;

/** True when the target waited so long for a CPU in a round that its figures are not reliable. */
export function isDisturbed({ trust }: TargetResult, round: number): boolean {
  return (trust[round]?.waited ?? 0) > DISTURBED;
}

/** Describes how reliable the figures are. */
export function describeTrust({ scenarios, rounds }: BenchResult): string[] {
  const disturbed = scenarios.flatMap((scenario) => describeEach(scenario, disturbedRounds));
  const saturated = scenarios.flatMap((scenario) => describeEach(scenario, saturatedRounds));
  return [
    "Read a difference under 15 % as none: identical code differs by as much from start to start. Ratios are medians of",
    "each round's own; in brackets the least and the most of all rounds. Compare at the same concurrency only.",
    ...scenarios.flatMap(describeHeadroom),
    `Rounds, of ${rounds}, in which a target waited for its processor more than ${100 * DISTURBED} % of the time, so that`,
    `its wall times are not its own: ${listed(disturbed)}.`,
    `Rounds in which client and upstream were at their limit, so that rates are theirs: ${listed(saturated)}.`,
  ];
}

/** Describes how far client and upstream are from being the bottleneck. */
function describeHeadroom({ name, targets }: ScenarioResult): string[] {
  const direct = targets.find(({ target }) => target === "direct");
  const proxies = targets.filter((one) => one !== direct && rateOf(one) > 0);
  if (direct === undefined || proxies.length === 0) return [];
  const fastest = proxies.reduce((best, one) => (rateOf(one) > rateOf(best) ? one : best));
  const times = (rateOf(direct) / rateOf(fastest)).toFixed(1);
  return [`${name}: direct is ${times} times as fast as the fastest proxy, ${fastest.target}.`];
}

function rateOf({ figures }: TargetResult): number {
  return figures["rate"]?.median ?? Number.NaN;
}

function describeEach(scenario: ScenarioResult, count: (target: TargetResult) => number): string[] {
  return scenario.targets
    .map((target) => ({ target, rounds: count(target) }))
    .filter(({ rounds }) => rounds > 0)
    .map(({ target, rounds }) => `${scenario.name} ${target.target} ${rounds}`);
}

function disturbedRounds(target: TargetResult): number {
  return target.trust.filter((_, round) => isDisturbed(target, round)).length;
}

/** Counts saturated rounds. The upstream itself is meant to be at its limit. */
function saturatedRounds({ target, trust }: TargetResult): number {
  return target === "direct" ? 0 : trust.filter((round) => (round?.load ?? 0) > SATURATED).length;
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? "none" : items.join(", ");
}

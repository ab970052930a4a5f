import type { BenchResult, TargetResult } from "./result.ts";
import { medianRatio } from "./statistics.ts";
import { isDisturbed } from "./trust.ts";

/** Fewer undisturbed rounds than that say nothing. */
const ENOUGH_ROUNDS = 2;

/**
 * tollkeeper's processor time in a scenario as times that of bare http-proxy-3, from the rounds in which both were let
 * run. NaN when these are too few.
 */
export function cpuRatio(scenario: string, { scenarios }: Pick<BenchResult, "scenarios">): number {
  const targets = scenarios.find(({ name }) => name === scenario)?.targets ?? [];
  const [own, bare] = ["tollkeeper", "http-proxy-3"].map((name) =>
    targets.find(({ target }) => target === name),
  );
  if (own === undefined || bare === undefined) throw new Error(`${scenario} was not measured of both`);
  const calm = [...own.trust.keys()].filter((round) => !isDisturbed(own, round) && !isDisturbed(bare, round));
  if (calm.length < ENOUGH_ROUNDS) return Number.NaN;
  const cpuIn = ({ figures }: TargetResult) =>
    calm.map((round) => figures["cpuUs"]?.rounds[round] ?? Number.NaN);
  return medianRatio(cpuIn(own), cpuIn(bare));
}

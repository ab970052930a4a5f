import type { BenchResult, TargetResult } from "./result.ts";
import { medianRatio } from "./statistics.ts";
import { isDisturbed } from "./trust.ts";

/** The minimum number of undisturbed rounds for a verdict. */
const ENOUGH_ROUNDS = 2;

/**
 * Returns tollkeeper's CPU time in a scenario as a multiple of bare http-proxy-3's. It is the median over those later rounds in which
 * neither was disturbed; NaN when these are too few. The earlier half still includes compilation, and we have more code to compile: of
 * 600, 280, 190, 190 … µs in rounds of 0.6 s, the first two said nothing about ours.
 */
export function cpuRatio(scenario: string, { scenarios }: Pick<BenchResult, "scenarios">): number {
  const targets = scenarios.find(({ name }) => name === scenario)?.targets ?? [];
  const [own, bare] = ["tollkeeper", "http-proxy-3"].map((name) =>
    targets.find(({ target }) => target === name),
  );
  if (own === undefined || bare === undefined) throw new Error(`${scenario} was not measured of both`);
  const calm = [...own.trust.keys()]
    .filter((round) => round >= Math.floor(own.trust.length / 2))
    .filter((round) => !isDisturbed(own, round) && !isDisturbed(bare, round));
  if (calm.length < ENOUGH_ROUNDS) return Number.NaN;
  const cpuIn = ({ figures }: TargetResult) =>
    calm.map((round) => figures["cpuUs"]?.rounds[round] ?? Number.NaN);
  return medianRatio(cpuIn(own), cpuIn(bare));
}

import type { FarResult } from "./far/far.ts";
import type { Machine } from "./machine.ts";
import type { Trust } from "./measure.ts";
import type { MeterResult } from "./meter/meter.ts";
import type { WebSocketResult } from "./websocket/websocket.ts";
import type { SessionsResult } from "./sessions/sessions.ts";
import type { Figure, Sample, Scenario } from "./scenarios/scenario.ts";
import { medianRatio, summarise, type Summary } from "./statistics.ts";

/** What a target's figures are compared with. */
export const BASES = ["http-proxy-3", "nginx"] as const;
export type Base = (typeof BASES)[number];

/** One figure of one target. */
export interface FigureResult extends Summary {
  /** Value of each round. */
  rounds: number[];
  /** How many times that of another target. NaN where that was not measured. */
  ratioTo: Record<Base, number>;
}

/** One scenario, measured of one target. */
export interface TargetResult {
  target: string;
  /** By the key of the figure. */
  figures: Record<string, FigureResult>;
  /** Of each round. */
  trust: (Trust | null)[];
}

/** One scenario, measured of all targets. */
export interface ScenarioResult {
  name: string;
  title: string;
  figures: readonly Figure[];
  targets: TargetResult[];
}

/** Everything that a run found. What is NaN here is null in JSON. */
export interface BenchResult {
  machine: Machine;
  placement: string;
  rounds: number;
  /** Versions of what was compared, by target. */
  versions: Record<string, string>;
  scenarios: ScenarioResult[];
  /** null: not measured. */
  far: FarResult | null;
  /** Empty: not measured. */
  meter: MeterResult[];
  /** null: not measured. */
  webSocket: WebSocketResult | null;
  /** null: not measured. */
  sessions: SessionsResult | null;
  /** Answers and records that were not as they must be. Not empty: the figures mean nothing. */
  faults: string[];
}

/** Samples of one scenario by target, one per round. */
export type SamplesByTarget = ReadonlyMap<string, readonly Sample[]>;

/** Summarises the samples of a scenario for the report. */
export function summariseScenario(
  { name, title, figures }: Scenario,
  samples: SamplesByTarget,
): ScenarioResult {
  const targets = [...samples].map(([target, own]) => ({
    target,
    figures: Object.fromEntries(figures.map((figure) => [figure.key, figureResult(figure, target, samples)])),
    trust: own.map(({ trust }) => trust),
  }));
  return { name, title, figures, targets };
}

function figureResult(figure: Figure, target: string, samples: SamplesByTarget): FigureResult {
  const rounds = valuesOf(figure, target, samples);
  const ratioTo = Object.fromEntries(
    BASES.map((base) => [base, medianRatio(rounds, valuesOf(figure, base, samples))]),
  ) as Record<Base, number>;
  return { ...summarise(rounds), rounds, ratioTo };
}

/** The values of a figure in all rounds; empty for a target that was not measured. */
function valuesOf({ key, isAdded = false }: Figure, target: string, samples: SamplesByTarget): number[] {
  const read = (name: string) => (samples.get(name) ?? []).map(({ values }) => values[key] ?? Number.NaN);
  if (!isAdded) return read(target);
  const direct = read("direct");
  return read(target).map((value, round) => value - (direct[round] ?? Number.NaN));
}

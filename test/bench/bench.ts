import { Cleanup } from "./cleanup.ts";
import { measureFar } from "./far/far.ts";
import { describeMachine } from "./machine.ts";
import { measureMeter } from "./meter/meter.ts";
import { type BenchResult, resultOf } from "./result.ts";
import { WARM_UP } from "./scenarios/all.ts";
import type { Sample, Scenario } from "./scenarios/scenario.ts";
import { openSite, type Site } from "./site.ts";
import { Subject } from "./subject.ts";
import type { Target } from "./targets/target.ts";

/** Each is one daemon's short life. */
const FAR_ROUNDS = 3;

/** What to measure, how often. */
export interface BenchOrder {
  targets: readonly Target[];
  scenarios: readonly Scenario[];
  rounds: number;
  isQuick: boolean;
  /** Is the way to a far upstream to be measured, too? */
  isFar: boolean;
  /** Is the meter to be measured on its own? */
  isMeter: boolean;
  /** Told what is under way. */
  onProgress(what: string): void;
}

/** Measures everything in turn, round by round, so that a busy moment of the machine hits all targets alike. */
export async function runBench(order: BenchOrder): Promise<BenchResult> {
  const cleanup = new Cleanup();
  try {
    // First, while no other process of the bench runs.
    const meter = order.isMeter ? await measureMeter(order.rounds, order.onProgress) : [];
    const site = await openSite(cleanup);
    const subjects: Subject[] = [];
    for (const target of order.targets) {
      order.onProgress(`starting ${target.name}`);
      subjects.push(await Subject.start(target, site));
    }
    const notes = new Notes(order);
    if (subjects.length > 0) await warmUp(order, site, subjects, notes);
    for (let round = 1; round <= order.rounds; round += 1)
      await runRound(order, site, subjects, notes, round);
    const far = order.isFar ? await measureFar(site, FAR_ROUNDS * order.rounds, order.onProgress) : null;
    return {
      machine: describeMachine(),
      placement: site.placement.note,
      rounds: order.rounds,
      versions: Object.fromEntries(order.targets.map(({ name, findVersion }) => [name, findVersion() ?? ""])),
      scenarios: order.scenarios.map((scenario) => resultOf(scenario, notes.samplesOf(scenario))),
      far,
      meter,
      faults: [...notes.faults, ...(await audit(subjects)), ...(far?.faults ?? [])],
    };
  } finally {
    await cleanup.run();
  }
}

/** Node runs new code slowly at first: one round, a full one, whose figures are thrown away, not its faults. */
async function warmUp(
  order: BenchOrder,
  site: Site,
  subjects: readonly Subject[],
  notes: Notes,
): Promise<void> {
  for (const scenario of [WARM_UP, ...order.scenarios.filter(({ isInWarmUp }) => isInWarmUp)]) {
    order.onProgress(`warming up: ${scenario.name}`);
    for (const subject of subjects) {
      notes.addFaults(scenario, subject, (await scenario.measure(site, subject, false)).faults);
    }
  }
}

async function runRound(
  { scenarios, rounds, isQuick, onProgress }: BenchOrder,
  site: Site,
  subjects: readonly Subject[],
  notes: Notes,
  round: number,
): Promise<void> {
  for (const scenario of scenarios) {
    onProgress(`round ${round} of ${rounds}: ${scenario.name}`);
    for (const subject of subjects) {
      notes.add(scenario, subject, await scenario.measure(site, subject, isQuick));
    }
  }
}

async function audit(subjects: readonly Subject[]): Promise<string[]> {
  const faults: string[] = [];
  for (const subject of subjects) {
    faults.push(...(await subject.audit()).map((fault) => `${subject.target.name}: ${fault}`));
  }
  return faults;
}

/** What the rounds have yielded so far. */
class Notes {
  readonly faults: string[] = [];
  readonly #samples: Map<Scenario, Map<string, Sample[]>>;

  constructor({ scenarios, targets }: BenchOrder) {
    const none = () => new Map(targets.map(({ name }) => [name, [] as Sample[]]));
    this.#samples = new Map(scenarios.map((scenario) => [scenario, none()]));
  }

  add(scenario: Scenario, subject: Subject, sample: Sample): void {
    this.#samples.get(scenario)?.get(subject.target.name)?.push(sample);
    this.addFaults(scenario, subject, sample.faults);
  }

  addFaults(scenario: Scenario, subject: Subject, faults: readonly string[]): void {
    this.faults.push(...faults.map((fault) => `${scenario.name}, ${subject.target.name}: ${fault}`));
  }

  samplesOf(scenario: Scenario): Map<string, Sample[]> {
    return this.#samples.get(scenario) ?? new Map<string, Sample[]>();
  }
}

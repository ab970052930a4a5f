import { Cleanup } from "./cleanup.ts";
import { measureFar } from "./far/far.ts";
import { describeMachine } from "./machine.ts";
import { measureMeter } from "./meter/meter.ts";
import { type BenchResult, summariseScenario } from "./result.ts";
import { WARM_UP } from "./scenarios/all.ts";
import type { Sample, Scenario } from "./scenarios/scenario.ts";
import { openSite, type Site } from "./site.ts";
import { measureSessions } from "./sessions/sessions.ts";
import { Subject } from "./subject.ts";
import { measureWebSocket } from "./websocket/websocket.ts";
import type { Target } from "./targets/target.ts";

/** Each round starts and ends one daemon. */
const FAR_ROUNDS = 3;

/** What to measure, and how often. */
export interface BenchOptions {
  targets: readonly Target[];
  scenarios: readonly Scenario[];
  rounds: number;
  isQuick: boolean;
  /** True when requests to a far upstream are measured as well. */
  isFar: boolean;
  /** True when the meter is measured on its own. */
  isMeter: boolean;
  /** True when turns on WebSockets and open WebSockets are measured. */
  isWebSocket: boolean;
  /** True when sessions of real tools are measured. */
  isSessions: boolean;
  /** Called with a description of each step. */
  onProgress(what: string): void;
}

/** Measures all targets in turn in each round, so that a busy moment of the machine affects all of them alike. */
export async function runBench(options: BenchOptions): Promise<BenchResult> {
  const cleanup = new Cleanup();
  try {
    // First, while no other process of the benchmark runs.
    const meter = options.isMeter ? await measureMeter(options.rounds, options.onProgress) : [];
    const webSocket = options.isWebSocket ? await measureWebSocket(options.rounds, options.onProgress) : null;
    const sessions = options.isSessions
      ? await measureSessions(cleanup, options.rounds, options.onProgress)
      : null;
    const site = await openSite(cleanup);
    const subjects: Subject[] = [];
    for (const target of options.targets) {
      options.onProgress(`starting ${target.name}`);
      subjects.push(await Subject.start(target, site));
    }
    const results = new Results(options);
    if (subjects.length > 0) await warmUp(options, site, subjects, results);
    for (let round = 1; round <= options.rounds; round += 1)
      await runRound(options, site, subjects, results, round);
    const far = options.isFar
      ? await measureFar(site, FAR_ROUNDS * options.rounds, options.onProgress)
      : null;
    return {
      machine: describeMachine(),
      placement: site.placement.note,
      rounds: options.rounds,
      versions: Object.fromEntries(
        options.targets.map(({ name, findVersion }) => [name, findVersion() ?? ""]),
      ),
      scenarios: options.scenarios.map((scenario) =>
        summariseScenario(scenario, results.samplesOf(scenario)),
      ),
      far,
      meter,
      webSocket,
      sessions,
      faults: [
        ...(sessions?.faults ?? []),
        ...(webSocket?.faults ?? []),
        ...results.faults,
        ...(await audit(subjects)),
        ...(far?.faults ?? []),
      ],
    };
  } finally {
    await cleanup.run();
  }
}

/** Runs one full round whose figures are discarded, because Node is slow at first. Its faults count. */
async function warmUp(
  options: BenchOptions,
  site: Site,
  subjects: readonly Subject[],
  results: Results,
): Promise<void> {
  for (const scenario of [WARM_UP, ...options.scenarios.filter(({ isInWarmUp }) => isInWarmUp)]) {
    options.onProgress(`warming up: ${scenario.name}`);
    for (const subject of subjects) {
      results.addFaults(scenario, subject, (await scenario.measure(site, subject, false)).faults);
    }
  }
}

async function runRound(
  { scenarios, rounds, isQuick, onProgress }: BenchOptions,
  site: Site,
  subjects: readonly Subject[],
  results: Results,
  round: number,
): Promise<void> {
  for (const scenario of scenarios) {
    onProgress(`round ${round} of ${rounds}: ${scenario.name}`);
    for (const subject of subjects) {
      results.add(scenario, subject, await scenario.measure(site, subject, isQuick));
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

/** The results of the rounds so far. */
class Results {
  readonly faults: string[] = [];
  readonly #samples: Map<Scenario, Map<string, Sample[]>>;

  constructor({ scenarios, targets }: BenchOptions) {
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

import { parseArgs } from "node:util";
import { SCENARIOS } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { GATEWAYS, TARGETS } from "./targets/all.ts";
import { direct } from "./targets/direct.ts";
import type { Target } from "./targets/target.ts";

/** What the command line asks for. */
export interface Options {
  targets: Target[];
  scenarios: Scenario[];
  /** Is the way to a far upstream to be measured? */
  isFar: boolean;
  /** Is the meter to be measured on its own? */
  isMeter: boolean;
  rounds: number;
  isQuick: boolean;
  isJson: boolean;
}

/** What the far upstream is called among the scenarios, and the meter on its own. */
const FAR = "tls";
const METER = "meter";

/** Throws on what it does not know. `direct` is always measured: added times are those beyond its. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      gateways: { type: "boolean", default: false },
      only: { type: "string" },
      scenario: { type: "string" },
      rounds: { type: "string", default: "3" },
    },
  });
  const { quick: isQuick, json: isJson, gateways } = values;
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`not a number of rounds: ${values.rounds}`);
  const usualTargets = TARGETS.filter((target) => gateways || !GATEWAYS.includes(target));
  const targets = choose(values.only, namesOf(TARGETS), namesOf(usualTargets));
  const usualScenarios = isQuick
    ? [...SCENARIOS.filter(({ isInQuick }) => isInQuick), { name: METER }]
    : [...SCENARIOS, { name: FAR }, { name: METER }];
  const chosen = choose(values.scenario, [...namesOf(SCENARIOS), FAR, METER], namesOf(usualScenarios));
  const scenarios = SCENARIOS.filter(({ name }) => chosen.has(name));
  return {
    targets:
      scenarios.length === 0 ? [] : TARGETS.filter((target) => target === direct || targets.has(target.name)),
    scenarios,
    isFar: chosen.has(FAR),
    isMeter: chosen.has(METER),
    rounds,
    isQuick,
    isJson,
  };
}

function namesOf(list: readonly { name: string }[]): string[] {
  return list.map(({ name }) => name);
}

/** The names that an option lists, separated by commas; without the option the usual ones. */
function choose(option: string | undefined, all: readonly string[], usual: readonly string[]): Set<string> {
  const chosen = option?.split(",") ?? usual;
  const unknown = chosen.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`there is no ${unknown}, only ${all.join(", ")}`);
  return new Set(chosen);
}

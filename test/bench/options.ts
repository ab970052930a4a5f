import { parseArgs } from "node:util";
import { SCENARIOS } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { GATEWAYS, TARGETS } from "./targets/all.ts";
import { direct } from "./targets/direct.ts";
import type { Target } from "./targets/target.ts";

/** The options of the command line. */
export interface Options {
  targets: Target[];
  scenarios: Scenario[];
  /** True when requests to a far upstream are measured. */
  isFar: boolean;
  /** True when the meter is measured on its own. */
  isMeter: boolean;
  /** True when turns on WebSockets and open WebSockets are measured. */
  isWebSocket: boolean;
  /** True when sessions of real tools are measured. */
  isSessions: boolean;
  rounds: number;
  isQuick: boolean;
  isJson: boolean;
}

/** The scenario names of the far upstream, of the meter, of WebSockets and of sessions. */
const FAR = "tls";
const METER = "meter";
const WEBSOCKET = "websocket";
/** Only on request: it installs two tools, and a round takes four minutes. */
const SESSIONS = "sessions";

/** Parses the command line; throws on unknown options. `direct` is always measured, because added times are relative to it. */
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
    : [...SCENARIOS, { name: FAR }, { name: METER }, { name: WEBSOCKET }];
  const all = [...namesOf(SCENARIOS), FAR, METER, WEBSOCKET, SESSIONS];
  const chosen = choose(values.scenario, all, namesOf(usualScenarios));
  const scenarios = SCENARIOS.filter(({ name }) => chosen.has(name));
  return {
    targets:
      scenarios.length === 0 ? [] : TARGETS.filter((target) => target === direct || targets.has(target.name)),
    scenarios,
    isFar: chosen.has(FAR),
    isMeter: chosen.has(METER),
    isWebSocket: chosen.has(WEBSOCKET),
    isSessions: chosen.has(SESSIONS),
    rounds,
    isQuick,
    isJson,
  };
}

function namesOf(list: readonly { name: string }[]): string[] {
  return list.map(({ name }) => name);
}

/** Returns the comma-separated names of an option, or the usual ones without it. */
function choose(option: string | undefined, all: readonly string[], usual: readonly string[]): Set<string> {
  const chosen = option?.split(",") ?? usual;
  const unknown = chosen.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`there is no ${unknown}, only ${all.join(", ")}`);
  return new Set(chosen);
}

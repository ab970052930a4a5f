import { readMemory } from "../cpu.ts";
import type { Scenario } from "./scenario.ts";

/** The memory of the process after all other scenarios. The last one in a round. */
export const memory: Scenario = {
  name: "memory",
  title: "what the process holds after all of the above",
  isInQuick: true,
  isInWarmUp: false,
  figures: [{ key: "loadedMb", title: "loaded MB", digits: 0, isHeadline: true }],
  measure: (_site, { pids }) =>
    Promise.resolve({ values: { loadedMb: readMemory(pids) }, faults: [], trust: null }),
};

import { firehose } from "./scenarios/firehose.ts";
import { large } from "./scenarios/large.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { small } from "./scenarios/small.ts";

/** The maximum CPU time of a scenario, as a multiple of bare http-proxy-3's. */
export interface Limit {
  scenario: Scenario;
  atMost: number;
}

/** Wide, because identical code varies by 15 % between processes. They detect a step that has become expensive. */
export const LIMITS: readonly Limit[] = [
  // Measured in 20 runs: 1.5 to 1.8; 2.9 to 3.9 before the hot path was reworked.
  { scenario: small(16, true), atMost: 2.2 },
  // Measured in 20 runs: 0.58 to 0.75; 1.5 to 1.8 before the hot path was reworked.
  { scenario: firehose, atMost: 1.1 },
  // Measured in 6 runs: 1.0 to 1.2; 1.6 to 1.8 while bodies led to full collections of garbage.
  { scenario: large(1024), atMost: 1.5 },
];

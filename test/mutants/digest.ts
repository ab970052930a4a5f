import type { Mutant } from "./mutant.ts";

const JUDGING = { row: "digest", test: "test/core/digest/out-of-line.test.ts" };
const SUMS = { row: "digest", test: "test/cli/commands/monitoring/digest.test.ts" };
const OUT_OF_LINE = "src/core/digest/out-of-line.ts";

/** What counts as out of line, and which time a digest is about. */
export const DIGESTS: readonly Mutant[] = [
  {
    ...JUDGING,
    without: "the floor, so that cents are out of line",
    file: OUT_OF_LINE,
    find: "if (one[measure] < FLOORS[kind][measure]) return null;",
    replace: "if (one[measure] < 0) return null;",
  },
  {
    ...JUDGING,
    without: "saying what explains something once",
    file: OUT_OF_LINE,
    find: ".filter((one) => !isExplained(one, found, cells));",
    replace: ".filter((one) => one.kind === kind);",
  },
  {
    ...JUDGING,
    without: "the spread of the past in the limit",
    file: "src/core/digest/usual.ts",
    find: "return median * Math.exp(deviations * spread * (1 + SPREAD_ERROR / count));",
    replace: "return median * Math.exp(deviations * LEAST_SPREAD * (1 + SPREAD_ERROR / count));",
  },
  {
    ...SUMS,
    without: "ending the past before the day",
    file: "src/cli/commands/monitoring/digest/read-digest.ts",
    find: "({ hour }) => dayOfHour(hour) < first",
    replace: "({ hour }) => dayOfHour(hour) <= first",
  },
];

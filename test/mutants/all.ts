import { A } from "./a.ts";
import { B } from "./b.ts";
import { BUDGET_COUNTS } from "./budgets.ts";
import { C } from "./c.ts";
import { CONNECT } from "./connect.ts";
import { D } from "./d.ts";
import { E } from "./e.ts";
import { F } from "./f.ts";
import { G } from "./g.ts";
import { BEDROCK } from "./bedrock.ts";
import { GEMINI } from "./gemini.ts";
import { DIGESTS } from "./digest.ts";
import { LIMIT_READINGS } from "./limits.ts";
import type { Mutant } from "./mutant.ts";
import { OWN_KEYS } from "./own-keys.ts";
import { PAGE_WORDS } from "./page.ts";
import { PLANS } from "./plans.ts";
import { PRICE_SUMS } from "./prices.ts";

/** At least one for each row of the threat table, and a dozen for each part that deals with money or with other programs' files. */
export const MUTANTS: readonly Mutant[] = [
  ...A,
  ...B,
  ...C,
  ...D,
  ...E,
  ...F,
  ...G,
  ...BEDROCK,
  ...GEMINI,
  ...PLANS,
  ...OWN_KEYS,
  ...LIMIT_READINGS,
  ...DIGESTS,
  ...BUDGET_COUNTS,
  ...PRICE_SUMS,
  ...CONNECT,
  ...PAGE_WORDS,
];

import { A } from "./a.ts";
import { B } from "./b.ts";
import { C } from "./c.ts";
import { D } from "./d.ts";
import { E } from "./e.ts";
import { F } from "./f.ts";
import { G } from "./g.ts";
import type { Mutant } from "./mutant.ts";

/** At least one for each row of the threat table. */
export const MUTANTS: readonly Mutant[] = [...A, ...B, ...C, ...D, ...E, ...F, ...G];

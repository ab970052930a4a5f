import { BROWSERS } from "./a-browsers.ts";
import { NEIGHBOURS } from "./a-neighbours.ts";
import { TOKENS } from "./a-tokens.ts";
import type { Mutant } from "./mutant.ts";

export const A: readonly Mutant[] = [...BROWSERS, ...NEIGHBOURS, ...TOKENS];

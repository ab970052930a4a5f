import type { Mutant } from "./mutant.ts";

export const A: readonly Mutant[] = [];

import type { Mutant } from "./mutant.ts";

export const D: readonly Mutant[] = [];

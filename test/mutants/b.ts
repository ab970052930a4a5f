import type { Mutant } from "./mutant.ts";

export const B: readonly Mutant[] = [];

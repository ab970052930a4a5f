import type { Mutant } from "./mutant.ts";

export const E: readonly Mutant[] = [];

import { ANSWERS } from "./d-answers.ts";
import { FLOODS } from "./d-floods.ts";
import type { Mutant } from "./mutant.ts";

export const D: readonly Mutant[] = [...ANSWERS, ...FLOODS];

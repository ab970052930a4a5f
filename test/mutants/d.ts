import { ANSWERS } from "./d-answers.ts";
import { FLOODS } from "./d-floods.ts";
import { PAYLOADS } from "./d-payloads.ts";
import type { Mutant } from "./mutant.ts";

export const D: readonly Mutant[] = [...ANSWERS, ...PAYLOADS, ...FLOODS];

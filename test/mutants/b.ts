import { LEAKS } from "./b-leaks.ts";
import type { Mutant } from "./mutant.ts";
import { TARGETS } from "./b-targets.ts";
import { TRUST } from "./b-trust.ts";

export const B: readonly Mutant[] = [...TARGETS, ...TRUST, ...LEAKS];

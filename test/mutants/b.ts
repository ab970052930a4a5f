import { CONFIG } from "./b-config.ts";
import { LEAKS } from "./b-leaks.ts";
import { MANAGED_CONFIG } from "./b-managed.ts";
import { TARGETS } from "./b-targets.ts";
import { TRUST } from "./b-trust.ts";
import type { Mutant } from "./mutant.ts";

export const B: readonly Mutant[] = [...TARGETS, ...TRUST, ...CONFIG, ...LEAKS, ...MANAGED_CONFIG];

import { CONTENT } from "./e-content.ts";
import { DISK } from "./e-disk.ts";
import type { Mutant } from "./mutant.ts";

export const E: readonly Mutant[] = [...DISK, ...CONTENT];

import { RESPONSES } from "./d-responses.ts";
import { FLOODS } from "./d-floods.ts";
import { PAYLOADS } from "./d-payloads.ts";
import type { Mutant } from "./mutant.ts";
import { UPGRADES } from "./d-upgrades.ts";

export const D: readonly Mutant[] = [...RESPONSES, ...PAYLOADS, ...FLOODS, ...UPGRADES];

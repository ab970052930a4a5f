// Broken installations, repaired by what `doctor` says: units, drop-ins, masks, IPv6.
import { BROKEN_DEFINITIONS } from "./broken-setups/definitions.ts";
import { testRepairs } from "./mend.ts";

testRepairs(BROKEN_DEFINITIONS);

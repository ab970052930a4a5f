// Broken installations, repaired by what `doctor` says: the configuration, keys, the port, directories and sockets.
import { BROKEN_SURROUNDINGS } from "./broken-setups/surroundings.ts";
import { testRepairs } from "./mend.ts";

testRepairs(BROKEN_SURROUNDINGS);

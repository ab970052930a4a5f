import { BROWSERS } from "./a-browsers.ts";
import { LOCAL_ACCESS } from "./a-local-access.ts";
import { NAMES } from "./a-names.ts";
import { REMOTE } from "./a-remote.ts";
import { TOKENS } from "./a-tokens.ts";
import type { Mutant } from "./mutant.ts";

export const A: readonly Mutant[] = [...BROWSERS, ...LOCAL_ACCESS, ...TOKENS, ...REMOTE, ...NAMES];

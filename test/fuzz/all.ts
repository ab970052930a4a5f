import { ADMISSION } from "./admission.ts";
import { BASE_URLS } from "./base-urls.ts";
import { BLOTTER } from "./blotter.ts";
import { CONFIGURATION } from "./configuration.ts";
import { GATES } from "./gates.ts";
import { HEADERS } from "./headers.ts";
import { LEDGER } from "./ledger.ts";
import { MEMORY } from "./memory.ts";
import { METERS } from "./meters.ts";
import type { Property } from "./property.ts";
import { REPORT } from "./report.ts";
import { REQUEST_SCAN } from "./request-scan.ts";
import { TARGETS } from "./targets.ts";
import { TOLD } from "./told.ts";
import { TEXTS } from "./texts.ts";
import { TOOLS } from "./tools.ts";

/** Everything that is tried in `npm test`. */
export const PROPERTIES: readonly Property[] = [
  ...TARGETS,
  ...ADMISSION,
  ...HEADERS,
  ...BLOTTER,
  ...METERS,
  ...TOLD,
  ...MEMORY,
  ...REQUEST_SCAN,
  ...CONFIGURATION,
  ...LEDGER,
  ...REPORT,
  ...TEXTS,
  ...BASE_URLS,
  ...TOOLS,
];

/** Those, and what takes too long there. */
export const ALL_PROPERTIES: readonly Property[] = [...PROPERTIES, ...GATES];

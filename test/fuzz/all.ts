import { ADMISSION } from "./admission.ts";
import { BASE_URLS } from "./base-urls.ts";
import { REDACTOR } from "./redactor.ts";
import { BRAKES } from "./brakes.ts";
import { BUDGET_BOUNDS } from "./budget-bounds.ts";
import { BUDGETS } from "./budgets.ts";
import { CACHE_SESSIONS } from "./cache-sessions.ts";
import { BEDROCK_FRAMES } from "./bedrock-frames.ts";
import { CHOICES, CHOSEN_UPSTREAMS } from "./choices.ts";
import { CONFIGURATION } from "./configuration.ts";
import { FALLBACKS } from "./fallbacks.ts";
import { FOLLOWERS } from "./followers.ts";
import { GATES } from "./gates.ts";
import { GEMINI } from "./gemini.ts";
import { GROUP_RULES } from "./groups.ts";
import { HEADERS } from "./headers.ts";
import { LEDGER } from "./ledger.ts";
import { LEDGER_AFTER } from "./ledger-after.ts";
import { MEMORY } from "./memory.ts";
import { METERS } from "./meters.ts";
import { MODEL_READER } from "./model-reader.ts";
import type { Property } from "./property.ts";
import { PROMPTS } from "./prompts.ts";
import { REPORT } from "./report.ts";
import { REQUEST_SCAN } from "./request-scanner.ts";
import { RESPONSE_PARSER } from "./response-parser.ts";
import { TARGETS } from "./targets.ts";
import { VALID_RESPONSES } from "./valid-responses.ts";
import { TEXTS } from "./texts.ts";
import { TOOLS } from "./tools.ts";
import { WEBSOCKET_COMPRESSION } from "./websocket-compression.ts";
import { WEBSOCKET_FRAMES } from "./websocket-frames.ts";

/** The properties that `npm run test:slow` checks. */
export const PROPERTIES: readonly Property[] = [
  ...TARGETS,
  ...ADMISSION,
  ...HEADERS,
  ...REDACTOR,
  ...METERS,
  ...GEMINI,
  ...BEDROCK_FRAMES,
  ...VALID_RESPONSES,
  ...MEMORY,
  ...REQUEST_SCAN,
  ...PROMPTS,
  ...CACHE_SESSIONS,
  ...RESPONSE_PARSER,
  ...WEBSOCKET_COMPRESSION,
  ...WEBSOCKET_FRAMES,
  ...CONFIGURATION,
  ...CHOICES,
  ...MODEL_READER,
  ...LEDGER,
  ...LEDGER_AFTER,
  ...FOLLOWERS,
  ...REPORT,
  ...TEXTS,
  ...BASE_URLS,
  ...TOOLS,
  ...FALLBACKS,
  ...BUDGETS,
  ...BUDGET_BOUNDS,
  ...BRAKES,
  ...GROUP_RULES,
];

/** All properties, including those that take too long for that. */
export const ALL_PROPERTIES: readonly Property[] = [...PROPERTIES, ...GATES, ...CHOSEN_UPSTREAMS];

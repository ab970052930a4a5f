import { BUDGETS } from "./c-budgets.ts";
import { HEADERS } from "./c-headers.ts";
import { MESSAGES } from "./c-messages.ts";
import { MODELS } from "./c-models.ts";
import { PRICES } from "./c-prices.ts";
import { WEBSOCKETS } from "./c-websockets.ts";
import type { Mutant } from "./mutant.ts";

export const C: readonly Mutant[] = [
  ...MESSAGES,
  ...HEADERS,
  ...MODELS,
  ...BUDGETS,
  ...PRICES,
  ...WEBSOCKETS,
];

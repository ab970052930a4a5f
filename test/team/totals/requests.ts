import type { ChaosRoute } from "../../chaos/responses.ts";
import { createRandom, oneOf, pick, type Random } from "../../chaos/random.ts";

/** How an exchange is to end, unless somebody is killed. */
export type Ending =
  | "complete"
  | "error"
  | "cut by upstream"
  | "client leaves"
  | "client leaves a hanging one";

/** What client and upstream both know of a request by its nonce. */
export interface PlannedRequest {
  nonce: string;
  tool: string;
  model: string;
  route: ChaosRoute;
  isStream: boolean;
  ending: Ending;
  /** Draws the response. */
  random: Random;
}

/** The last one has no price. */
const MODELS = ["totals-large", "totals-small", "totals-cheap", "totals-unpriced"];
const TOOLS = ["codex", "claude-code", "aider", "opencode"];

const ROUTES: [weight: number, ChaosRoute][] = [
  [5, "/messages"],
  [4, "/responses"],
  [1, "/messages/count_tokens"],
];

const ENDINGS: [weight: number, Ending][] = [
  [12, "complete"],
  [2, "error"],
  [1, "cut by upstream"],
  [1, "client leaves"],
  [1, "client leaves a hanging one"],
];

/** Returns the same plan for the same nonce. */
export function planRequest(nonce: string): PlannedRequest {
  const random = createRandom(nonce);
  const route = pick(random, ROUTES);
  const hasUsage = route !== "/messages/count_tokens";
  return {
    nonce,
    tool: oneOf(random, TOOLS),
    model: oneOf(random, MODELS),
    route,
    isStream: hasUsage && random() < 0.7,
    ending: hasUsage ? pick(random, ENDINGS) : "complete",
    random,
  };
}

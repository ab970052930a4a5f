import type { BrakeTerms } from "../policy/brake.ts";
import { choice, integer, object, shortOrObject } from "./shape.ts";

/**
 * Stops a loop and no person: more than a tool with parallel agents sends, and more repetitions than the retries of the most
 * patient one (Claude Code sends a request up to 11 times).
 */
const GENTLE: BrakeTerms = { requestsPerMinute: 120, concurrent: 16, same: { times: 12, minutes: 10 } };

const MAX_REQUESTS = 100_000;
const MAX_TIMES = 1_000;
const MAX_MINUTES = 24 * 60;

/** The brake of a tool or a group; null for none. */
export const brake = shortOrObject(
  choice("gentle"),
  object({
    requestsPerMinute: integer(1, MAX_REQUESTS)
      .nullable()
      .default(null)
      .describe("Requests that may be sent at once, and then in each minute; null for any number."),
    concurrent: integer(1, MAX_REQUESTS)
      .nullable()
      .default(null)
      .describe("Requests that may run at the same time; null for any number."),
    same: object({
      times: integer(1, MAX_TIMES).describe("How often a request with the same body may be sent."),
      minutes: integer(1, MAX_MINUTES).describe("Within how many minutes."),
    })
      .nullable()
      .default(null)
      .describe(
        'How often the same request may be sent, e.g. { "times": 12, "minutes": 10 }; null for any number.',
      ),
  }).resolve((terms) =>
    terms.requestsPerMinute === null && terms.concurrent === null && terms.same === null
      ? { problem: 'must have at least one of "requestsPerMinute", "concurrent" and "same"' }
      : terms,
  ),
)
  .resolve((given): BrakeTerms => (given === "gentle" ? GENTLE : given))
  .nullable()
  .default(null);

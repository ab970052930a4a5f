import type { BrakeTerms } from "../policy/brake.ts";
import { choice, integer, object, shortOrObject } from "./shape.ts";

/**
 * Stops a loop and no person: more than a tool with parallel agents sends, and more repetitions than the retries of the most
 * patient one (Claude Code sends a request up to 11 times).
 */
const GENTLE: BrakeTerms = {
  requestsPerMinute: 120,
  concurrent: 16,
  same: { times: 12, minutes: 10 },
  keep: null,
};

const MAX_REQUESTS = 100_000;
const MAX_TIMES = 1_000;
const MAX_MINUTES = 24 * 60;
/** All of it would refuse every request. */
const MOST_KEPT = 99;

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
    keep: integer(1, MOST_KEPT)
      .nullable()
      .default(null)
      .describe(
        "Which share of each window of the service's limits has to be left of the account that would pay, in percent; null for none. With less, a request waits.",
      ),
  }).resolve((terms) =>
    Object.values(terms).every((term) => term === null)
      ? { problem: 'must have at least one of "requestsPerMinute", "concurrent", "same" and "keep"' }
      : terms,
  ),
)
  .resolve((given): BrakeTerms => (given === "gentle" ? GENTLE : given))
  .nullable()
  .default(null);

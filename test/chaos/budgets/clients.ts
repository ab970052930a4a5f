import { request, type ClientRequest } from "node:http";
import { acrossMagnitudes, between, chance, oneOf, pick, type Random } from "../random.ts";

/** How requests ended: with 2xx or an error of the sandbox, with a refusal by the budget, or without a response. */
export interface Answers {
  passed: number;
  refused: number;
  broken: number;
}

const MAX_OUTPUT = 100;
const MAX_WORDS = 1_500;
/** The most that a body has around its words. */
const ENVELOPE_BYTES = 150;

/** What budgets reserve for a request by its size (docs/budgets.md). */
function sizeOf(words: number, output: number): number {
  return Math.ceil((words * "word ".length + ENVELOPE_BYTES) / 3) + output;
}

/** More than any request can cost. */
export const MOST_TOKENS = sizeOf(MAX_WORDS, MAX_OUTPUT);

/** What a request may cost on average, as its words and its output are spread over their magnitudes. */
export const MEAN_TOKENS = sizeOf(MAX_WORDS / Math.log(MAX_WORDS), MAX_OUTPUT / Math.log(MAX_OUTPUT));

/** What the sandbox does with a request. Most are answered. */
const SWITCHES = [
  [10, ""],
  [4, "pace=3"],
  [2, "delay=30"],
  [1, "cut=4"],
  [1, "reset"],
  [1, "error=529"],
  [1, "error-event"],
  [1, "no-usage"],
  [1, "gzip"],
] as const;

/** Sends one request, and leaves some of them early. Never rejects. */
export function sendAtRandom(url: string, random: Random, end: AbortSignal): Promise<keyof Answers> {
  const headers = { "content-type": "application/json", "x-sandbox": pick(random, SWITCHES) };
  const body = JSON.stringify({
    model: oneOf(random, ["claude-sonnet-5", "claude-haiku-4-5", "claude-opus-5"]),
    max_tokens: acrossMagnitudes(random, 1, MAX_OUTPUT),
    stream: chance(random, 0.7),
    messages: [{ role: "user", content: "word ".repeat(acrossMagnitudes(random, 1, MAX_WORDS)) }],
  });
  const leavesAfterMs = chance(random, 0.1) ? between(random, 1, 60) : null;
  const tool = oneOf(random, ["codex", "zed", "pi"]);
  const sent = request(`${url}/t/${tool}/v1/messages`, { method: "POST", headers, signal: end });
  return outcomeOf(sent.end(body), leavesAfterMs);
}

/** Not fetch: of some hundred requests to a daemon that is killed, one stays open for ever (Node 20). */
function outcomeOf(sent: ClientRequest, leavesAfterMs: number | null): Promise<keyof Answers> {
  const timer = leavesAfterMs === null ? undefined : setTimeout(() => sent.destroy(), leavesAfterMs);
  return new Promise((resolve) => {
    sent.on("response", (response) => {
      const isRefused = response.headers["x-tollkeeper-refusal"] === "budget_spent";
      response.on("error", () => {}).on("end", () => resolve(isRefused ? "refused" : "passed"));
      response.resume();
    });
    sent.on("error", () => {});
    sent.on("close", () => {
      clearTimeout(timer);
      resolve("broken");
    });
  });
}

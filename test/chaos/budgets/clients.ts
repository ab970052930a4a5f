import { request, type ClientRequest } from "node:http";
import { between, chance, oneOf, pick, type Random } from "../random.ts";

/** How requests ended: with 2xx or an error of the sandbox, with a refusal by the budget, or without a response. */
export interface Answers {
  passed: number;
  refused: number;
  broken: number;
}

const MAX_OUTPUT = 20;
const MAX_WORDS = 40;

/** More than any request can cost: a token for every 3 bytes of the longest body, and all output that it allows. */
export const MOST_TOKENS = Math.ceil((MAX_WORDS * "word ".length + 150) / 3) + MAX_OUTPUT;

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
export async function sendAtRandom(
  url: string,
  random: Random,
  end: AbortSignal,
  answers: Answers,
): Promise<void> {
  const headers = { "content-type": "application/json", "x-sandbox": pick(random, SWITCHES) };
  const body = JSON.stringify({
    model: oneOf(random, ["claude-sonnet-5", "claude-haiku-4-5", "claude-opus-5"]),
    max_tokens: between(random, 1, MAX_OUTPUT),
    stream: chance(random, 0.7),
    messages: [{ role: "user", content: "word ".repeat(between(random, 1, MAX_WORDS)) }],
  });
  const leavesAfterMs = chance(random, 0.1) ? between(random, 1, 60) : null;
  const tool = oneOf(random, ["codex", "zed", "pi"]);
  const sent = request(`${url}/t/${tool}/v1/messages`, { method: "POST", headers, signal: end });
  answers[await outcomeOf(sent.end(body), leavesAfterMs)] += 1;
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

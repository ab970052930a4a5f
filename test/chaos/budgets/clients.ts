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
  const leaves = chance(random, 0.1) ? [AbortSignal.timeout(between(random, 1, 60))] : [];
  const signal = AbortSignal.any([end, ...leaves]);
  const tool = oneOf(random, ["codex", "zed", "pi"]);
  try {
    const response = await fetch(`${url}/t/${tool}/v1/messages`, { method: "POST", headers, body, signal });
    await response.text();
    if (response.headers.get("x-tollkeeper-refusal") === "budget_spent") answers.refused += 1;
    else answers.passed += 1;
  } catch {
    answers.broken += 1;
  }
}

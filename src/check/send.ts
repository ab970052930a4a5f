import { expect, Fault, type Installation } from "./check.ts";
import type { Answer, Ask } from "./client.ts";
import type { Script, Seen } from "./echo.ts";

/** What is shown of an answer that should not have come, characters. */
const QUOTE_LENGTH = 160;

/**
 * Sends one request through: what the upstream saw of it, and what came back.
 * @throws Fault unless it reached the upstream, and that just once
 */
export async function exchange(
  { client, echo }: Installation,
  request: Ask,
  script?: Script,
): Promise<{ seen: Seen; answer: Answer }> {
  const before = echo.seen.length;
  if (script !== undefined) echo.answerNext(script);
  const answer = await client.ask(request);
  const [seen, again] = echo.seen.slice(before);
  if (seen === undefined) throw new Fault(`the request did not reach the upstream: ${quote(answer)}`);
  expect(again === undefined, `the upstream got a second request: ${again?.method} ${again?.path}`);
  return { seen, answer };
}

/** An answer in a line: status and the beginning of the body. */
export function quote({ status, body }: Answer): string {
  return `${status} ${body.toString("latin1", 0, QUOTE_LENGTH)}`.trim();
}

/** A POST of a small JSON body. */
export function post(path: string, headers: Ask["headers"] = []): Ask {
  return { method: "POST", path, headers, body: Buffer.from(`{"model":"check","stream":false}`) };
}

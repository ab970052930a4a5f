import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { readHead, valuesOf } from "./http-messages.ts";
import { rawClient } from "./raw-client.ts";

/** The answer to one request, and all that came with it. */
export interface RawResponse {
  status: number;
  headers: [name: string, value: string][];
  /** Our code, where the answer is our own refusal. */
  refusal: string | null;
  /** Everything received, head and framing included. */
  text: string;
}

/**
 * Sends one request, line by line as it is given, on a connection of its own and reads until tollkeeper closes that:
 * `Connection: close` is added unless the lines say otherwise.
 */
export async function exchangeRaw(
  t: TestContext,
  port: number,
  lines: readonly string[],
  body = "",
): Promise<RawResponse> {
  const client = await rawClient(t, port);
  const head = [...lines];
  if (!lines.some((line) => /^connection:/i.test(line))) head.push("Connection: close");
  if (body !== "") head.push(`Content-Length: ${body.length}`);
  client.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  const text = await client.closed;
  const answer = readHead(text)?.message;
  assert.ok(answer, `no answer to ${lines[0] ?? ""}: ${JSON.stringify(text)}`);
  const [refusal = null] = valuesOf(answer, "x-tollkeeper-refusal");
  return { status: Number(answer.start.split(" ")[1]), headers: answer.headers, refusal, text };
}

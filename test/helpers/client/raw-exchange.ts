import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { readHead, valuesOf } from "./http-messages.ts";
import { rawClient } from "./raw-client.ts";

/** The response to one request. */
export interface RawResponse {
  status: number;
  headers: [name: string, value: string][];
  /** The refusal's code when tollkeeper refused the request, otherwise null. */
  refusal: string | null;
  /** Everything received, including the head and the transfer coding. */
  text: string;
}

/**
 * Sends one request, with its head lines as given, on a new connection and reads until tollkeeper closes it.
 * Adds `Connection: close` unless the lines have a Connection header.
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
  const response = readHead(text)?.message;
  assert.ok(response, `no response to ${lines[0] ?? ""}: ${JSON.stringify(text)}`);
  const [refusal = null] = valuesOf(response, "x-tollkeeper-refusal");
  return { status: Number(response.start.split(" ")[1]), headers: response.headers, refusal, text };
}

/** Returns the header lines a JSON request to the gate needs. */
export function jsonHeaders(port: number): string[] {
  return [`Host: 127.0.0.1:${port}`, "Content-Type: application/json"];
}

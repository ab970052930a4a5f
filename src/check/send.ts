import assert from "node:assert/strict";
import type { TestRequest, TestResponse } from "./client.ts";
import type { IsolatedProxy } from "./guarantee.ts";
import type { RecordedRequest, Responder } from "./recording-upstream.ts";

/** How much of an unexpected response is shown, characters. */
const EXCERPT_LENGTH = 160;

/**
 * Sends one request through tollkeeper.
 * @returns the request as the upstream received it, and the response
 * @throws unless it reached the upstream exactly once
 */
export async function sendThrough(
  { client, upstream }: IsolatedProxy,
  request: TestRequest,
  responder?: Responder,
): Promise<{ received: RecordedRequest; response: TestResponse }> {
  const before = upstream.requests.length;
  if (responder !== undefined) upstream.respondOnce(responder);
  const response = await client.send(request);
  const [received, second] = upstream.requests.slice(before);
  assert.ok(received, `the request did not reach the upstream: ${summarize(response)}`);
  assert.ok(second === undefined, `the upstream got a second request: ${second?.method} ${second?.path}`);
  return { received, response };
}

/** Returns a response in one line: its status and the beginning of its body. */
export function summarize({ status, body }: TestResponse): string {
  return `${status} ${body.toString("latin1", 0, EXCERPT_LENGTH)}`.trim();
}

/** Returns a POST with a small JSON body. */
export function post(path: string, headers: TestRequest["headers"] = []): TestRequest {
  return { method: "POST", path, headers, body: Buffer.from(`{"model":"check","stream":false}`) };
}

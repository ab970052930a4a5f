import type { TestContext } from "node:test";
import { provokesRetry } from "../../src/core/refusals/retry-triggers.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { startSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox/server.ts";

/** Starts a sandbox that is closed with the test, on a port that a refusal may name (it leaves out one such as 42950). */
export async function openSandbox(t: TestContext, options?: SandboxOptions): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  if (provokesRetry(new URL(sandbox.baseUrl).port)) {
    await sandbox.close();
    return openSandbox(t, options);
  }
  t.after(() => sandbox.close());
  return sandbox;
}

/** Returns headers with the first key, for all routes but those of the Messages API. */
export function bearer(sandbox: Sandbox): Record<string, string> {
  return { authorization: `Bearer ${sandbox.keys[0]?.secret}`, "content-type": "application/json" };
}

/** Returns headers with the first key, for /messages. */
export function apiKey(sandbox: Sandbox): Record<string, string> {
  return {
    "x-api-key": sandbox.keys[0]?.secret ?? "",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
  };
}

/** Sends a POST request with the route's credential. `headers` override the default ones. */
export function post(
  sandbox: Sandbox,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const credential = path.startsWith("/messages") ? apiKey(sandbox) : bearer(sandbox);
  return fetch(sandbox.baseUrl + path, {
    method: "POST",
    headers: { ...credential, ...headers },
    body: JSON.stringify(body),
  });
}

/** Returns a small Messages request. `more` overrides members. */
export function messageRequest(more: JsonObject = {}): JsonObject {
  const messages = [{ role: "user", content: "good morning" }];
  return { model: "claude-sonnet-5", max_tokens: 200, messages, ...more };
}

/** Returns a small Responses request. `more` overrides members. */
export function responsesRequest(more: JsonObject = {}): JsonObject {
  return { model: "gpt-5", input: "good morning", ...more };
}

/** Returns a small Chat Completions request. `more` overrides members. */
export function chatRequest(more: JsonObject = {}): JsonObject {
  return { model: "gpt-5", messages: [{ role: "user", content: "good morning" }], ...more };
}

/** Asks a stream for its usage. */
export const WITH_USAGE = { stream: true, stream_options: { include_usage: true } };

/** One event of a stream: its name on the wire and its parsed data. */
interface ReadEvent {
  name: string;
  data: JsonObject;
}

/** Parses a complete event stream in the form of recorded ones: `event:` line, `data:` line, blank line. */
export function readEvents(text: string): ReadEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block.trim() !== "")
    .map((block) => {
      const match = /^event: (.*)\ndata: (.*)$/s.exec(block.trim());
      if (match === null) throw new Error(`not an event: ${block}`);
      return { name: match[1] ?? "", data: JSON.parse(match[2] ?? "") as JsonObject };
    });
}

/** Parses a complete stream of Chat Completions: chunks, and the mark of the end as the string `[DONE]`. */
export function readChunks(text: string): (JsonObject | string)[] {
  return text
    .split("\n\n")
    .filter((block) => block.trim() !== "")
    .map((block) => {
      const data = /^data: (.*)$/.exec(block)?.[1];
      if (data === undefined) throw new Error(`not a chunk: ${block}`);
      return data === "[DONE]" ? data : (JSON.parse(data) as JsonObject);
    });
}

/** Returns the names of the events in order, without immediate repetitions. */
export function eventOrder(events: readonly ReadEvent[]): string[] {
  return events.map(({ name }) => name).filter((name, at, names) => name !== names[at - 1]);
}

/** Returns the member at `path` of nested objects and lists; undefined when there is none. */
export function valueAt(value: unknown, ...path: (string | number)[]): unknown {
  let found = value;
  for (const step of path) found = (found as Record<string | number, unknown> | null | undefined)?.[step];
  return found;
}

/** Joins the strings at `path` of each event's data. Skips events without one. */
export function joinText(events: readonly ReadEvent[], ...path: string[]): string {
  return events
    .map(({ data }) => valueAt(data, ...path))
    .filter((piece) => typeof piece === "string")
    .join("");
}

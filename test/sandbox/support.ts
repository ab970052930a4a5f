import type { TestContext } from "node:test";
import type { JsonObject } from "../../src/sandbox/json.ts";
import { startSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox/server.ts";

/** A sandbox that ends with the test. */
export async function openSandbox(t: TestContext, options?: SandboxOptions): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  t.after(() => sandbox.close());
  return sandbox;
}

/** Headers that carry the first key as Responses and models want it. */
export function bearer(sandbox: Sandbox): Record<string, string> {
  return { authorization: `Bearer ${sandbox.keys[0]?.secret}`, "content-type": "application/json" };
}

/** Headers that carry the first key as Messages wants it. */
export function apiKey(sandbox: Sandbox): Record<string, string> {
  return {
    "x-api-key": sandbox.keys[0]?.secret ?? "",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
  };
}

/** Posts with the route's own credential; `headers` come on top. */
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

/** A small Messages request; `more` overrides. */
export function messageRequest(more: JsonObject = {}): JsonObject {
  const messages = [{ role: "user", content: "good morning" }];
  return { model: "claude-sonnet-5", max_tokens: 200, messages, ...more };
}

/** A small Responses request; `more` overrides. */
export function responsesRequest(more: JsonObject = {}): JsonObject {
  return { model: "gpt-5", input: "good morning", ...more };
}

/** One event of a stream: its name on the wire and its parsed data. */
export interface ReadEvent {
  name: string;
  data: JsonObject;
}

/** Splits a whole event stream as recorded ones are written: `event:` line, `data:` line, blank line. */
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

/** Names of the events, a run of the same name told once. */
export function eventOrder(events: readonly ReadEvent[]): string[] {
  return events.map(({ name }) => name).filter((name, at, names) => name !== names[at - 1]);
}

/** The member at `path` of nested objects and lists; undefined where there is none. */
export function dig(value: unknown, ...path: (string | number)[]): unknown {
  let found = value;
  for (const step of path) found = (found as Record<string | number, unknown> | null | undefined)?.[step];
  return found;
}

/** The strings at `path` of each event's data, joined; events without one are passed over. */
export function joinText(events: readonly ReadEvent[], ...path: string[]): string {
  return events
    .map(({ data }) => dig(data, ...path))
    .filter((piece) => typeof piece === "string")
    .join("");
}

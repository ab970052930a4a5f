import { replacing } from "./hop.ts";
import type { WrongCase } from "./wrong-path.ts";

/** What can be wrong with a request by the time that it reaches the upstream. */
export const WRONG_REQUESTS: readonly WrongCase[] = [
  {
    title: "writes the JSON of requests anew",
    back: { up: replacing('"z":1.0', '"z":1.1') },
    fails: "request bodies",
    fault: /^JSON body: differs from byte \d+ on \(100 bytes sent, 100 received\)$/,
  },
  {
    title: "forgets that a request is encoded",
    back: { up: replacing("content-encoding: zstd\r\n", "") },
    fails: "request bodies",
    fault: /^content-encoding: should be "zstd", is missing$/,
  },
  {
    title: "decodes the query",
    front: { up: replacing("%2F", "/") },
    fails: "query",
    fault: /^sent .*%2F.*, received .*x=\/\.\./,
  },
  {
    title: "drops a header that it does not know",
    back: { up: replacing(/x-[^:]*: odd[^\r]*\r\n/, "") },
    fails: "request headers",
    fault: /is missing$/,
  },
  {
    title: "adds no version",
    back: { up: replacing("anthropic-version: 2023-06-01\r\n", "") },
    fails: "version header",
    fault: /^anthropic-version: should be "2023-06-01", is missing$/,
  },
  {
    title: "lets the oauth beta through",
    front: { up: replacing("oauth-2025-04-20", "oauth-hidden") },
    back: { up: replacing("oauth-hidden", "oauth-2025-04-20") },
    fails: "oauth beta",
    fault: /is "one-1,oauth-2025-04-20,two-2"$/,
  },
  {
    title: "passes the client's cookie on",
    front: { up: replacing("\r\ncookie:", "\r\nx-kept:") },
    back: { up: replacing("\r\nx-kept:", "\r\ncookie:") },
    fails: "credentials",
    fault: /^\/v1\/models: the client's cookie reached the upstream$/,
  },
  {
    title: "puts a bearer on beside x-api-key when tokens are counted",
    back: {
      up: (text) =>
        text.startsWith("POST /v1/messages/count_tokens")
          ? text.replace("\r\n", "\r\nauthorization: Bearer x\r\n")
          : text,
    },
    fails: "credentials",
    fault: /authorization is there besides x-api-key$/,
  },
  {
    title: "sends a tool to the default upstream",
    front: { up: replacing("/t/codex/", "/") },
    fails: "tools",
    fault: /^codex: asked the upstream for \/v1\/messages instead of \/other\/v1\/messages$/,
  },
];

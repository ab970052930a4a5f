import { replacing } from "../tampering-relay.ts";
import type { DefectCase } from "../defective-path.ts";

/** Defects of forwarded requests. */
export const REQUEST_DEFECTS: readonly DefectCase[] = [
  {
    title: "re-serializes the JSON of requests",
    back: { up: replacing('"z":1.0', '"z":1.1') },
    violates: "request bodies",
    fault: /^JSON body: differs from byte \d+ \(100 bytes sent, 100 received\)$/,
  },
  {
    title: "drops content-encoding from a request",
    back: { up: replacing("content-encoding: zstd\r\n", "") },
    violates: "request bodies",
    fault: /^content-encoding: expected "zstd", but it is missing$/,
  },
  {
    title: "decodes the query",
    front: { up: replacing(/(?<=^POST \S*)%2F/, "/") },
    violates: "query",
    fault: /^sent .*%2F.*, received .*x=\/\.\./,
  },
  {
    title: "drops an unknown header",
    back: { up: replacing(/x-[^:]*: odd[^\r]*\r\n/, "") },
    violates: "request headers",
    fault: /is missing$/,
  },
  {
    title: "adds no anthropic-version",
    back: { up: replacing("anthropic-version: 2023-06-01\r\n", "") },
    violates: "version header",
    fault: /^anthropic-version: expected "2023-06-01", but it is missing$/,
  },
  {
    title: "forwards the oauth beta",
    front: { up: replacing("oauth-2025-04-20", "oauth-hidden") },
    back: { up: replacing("oauth-hidden", "oauth-2025-04-20") },
    violates: "oauth beta",
    fault: /is "one-1,oauth-2025-04-20,two-2"$/,
  },
  {
    title: "forwards the client's cookie",
    front: { up: replacing("\r\ncookie:", "\r\nx-kept:") },
    back: { up: replacing("\r\nx-kept:", "\r\ncookie:") },
    violates: "credentials",
    fault: /^\/v1\/responses: the client's cookie reached the upstream$/,
  },
  {
    title: "forwards a credential in the query",
    front: { up: replacing("?api_key=", "?kept=") },
    violates: "credentials",
    fault: /^\/v1\/responses: the client's query reached the upstream$/,
  },
  {
    title: "sends a bearer token besides x-api-key to count_tokens",
    back: {
      up: (text) =>
        text.startsWith("POST /v1/messages/count_tokens")
          ? text.replace("\r\n", "\r\nauthorization: Bearer x\r\n")
          : text,
    },
    violates: "credentials",
    fault: /authorization is sent in addition to x-api-key$/,
  },
  {
    title: "sends a configured tool to the default upstream",
    front: { up: replacing("/t/codex/", "/") },
    violates: "tools",
    fault: /^codex: requested \/v1\/messages from the upstream instead of \/other\/v1\/messages$/,
  },
];

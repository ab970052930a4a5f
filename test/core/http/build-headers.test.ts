import assert from "node:assert/strict";
import { test } from "node:test";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { INERT_HEADERS } from "../../../src/core/http/header-policy.ts";
import {
  buildDownstreamHeaders,
  buildUpstreamHeaders,
  type UpstreamHeaderOptions,
} from "../../../src/core/http/build-headers.ts";
import { NO_SECRET, Secret } from "../../../src/core/secrets/secret.ts";

const secret = new Secret("sk-real-one");
const options: UpstreamHeaderOptions = {
  host: "api.example.com",
  auth: "x-api-key",
  secret,
  defaultVersion: "2023-06-01",
  isLocal: false,
  fixed: [],
  addedBytes: 0,
};

function upstream(raw: string[], overrides: Partial<UpstreamHeaderOptions> = {}): Record<string, string> {
  const flat = buildUpstreamHeaders(new HeaderIndex(raw), { ...options, ...overrides });
  const out: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) out[flat[i] ?? ""] = flat[i + 1] ?? "";
  return out;
}

test("sets exactly one credential, last, in the header of the route's auth scheme", () => {
  const flat = buildUpstreamHeaders(
    new HeaderIndex(["authorization", "Bearer x", "X-Api-Key", "y"]),
    options,
  );
  assert.deepEqual(flat.slice(-2), ["x-api-key", "sk-real-one"]);
  assert.equal(flat.filter((text) => text.includes("sk-real-one")).length, 1);
  const bearer = buildUpstreamHeaders(new HeaderIndex(["x-api-key", "y"]), { ...options, auth: "bearer" });
  assert.deepEqual(bearer.slice(-2), ["authorization", "Bearer sk-real-one"]);
  assert.ok(!bearer.includes("x-api-key"));
});

test("sends no credential, and none of the client's, where the upstream takes none", () => {
  const sent = upstream(["authorization", "Bearer x", "X-Api-Key", "y"], { auth: "none", secret: NO_SECRET });
  assert.deepEqual(Object.keys(sent).sort(), ["accept-encoding", "anthropic-version", "host"]);
});

test("marks a request for an upstream on this machine as one of ours, and no other", () => {
  assert.equal(upstream([], { isLocal: true })["x-tollkeeper-hop"], "1");
  assert.equal(upstream(["X-Tollkeeper-Hop", "1"])["x-tollkeeper-hop"], undefined);
});

for (const name of [
  "Authorization",
  "x-api-key",
  "X_API_KEY",
  "api-key",
  "apikey",
  "x-goog-api-key",
  "Proxy-Authorization",
  "Cookie",
  "chatgpt-account-id",
  "chatgpt_account_id",
  "x-auth-token",
  "x-amz-security-token",
  "x-amz-date",
  "x-amz-content-sha256",
  "anthropic-api-key",
  "private-token",
  "ocp-apim-subscription-key",
  "x_tollkeeper_tool",
  "content_length",
  "X-HTTP-Method-Override",
  "Forwarded",
  "X-Forwarded-For",
  "x-real-ip",
  "via",
  "Origin",
  "Referer",
  "x-tollkeeper-tool",
  "Expect",
  "TE",
  "Keep-Alive",
  "Upgrade",
  "Transfer-Encoding",
  "Connection",
]) {
  test(`does not send the client's ${name} upstream`, () => {
    const sent = upstream([name, "from-the-client"]);
    assert.ok(!Object.values(sent).includes("from-the-client"), JSON.stringify(sent));
  });
}

for (const name of [
  "anthropic-beta",
  "X-Claude-Code-Session-Id",
  "session_id",
  "originator",
  "x-stainless-retry-count",
  "http-referer",
  "x-title",
  "openai-organization",
  "sec-fetch-mode",
  "content-type",
  "content-length",
  "idempotency-key",
  "x-client-request-id",
]) {
  test(`sends the client's ${name} upstream unchanged, in its spelling`, () => {
    assert.equal(upstream([name, "v"])[name], "v");
  });
}

test("drops headers that Connection lists, except the credential and content headers", () => {
  const sent = upstream([
    "Connection",
    "close, X-Secret-Hop, x-api-key, content-type",
    "x-secret-hop",
    "v",
    "content-type",
    "application/json",
  ]);
  assert.equal(sent["x-secret-hop"], undefined);
  assert.equal(sent["x-api-key"], "sk-real-one");
  assert.equal(sent["content-type"], "application/json");
});

test("sends the client's anthropic-version, and adds it only when missing", () => {
  assert.equal(upstream(["anthropic-version", "2026-10-21"])["anthropic-version"], "2026-10-21");
  assert.equal(upstream([])["anthropic-version"], "2023-06-01");
  assert.equal(upstream([], { defaultVersion: null })["anthropic-version"], undefined);
});

test("removes the subscription beta from anthropic-beta, and keeps the rest byte for byte", () => {
  const sent = upstream([
    "anthropic-beta",
    "claude-code-20250219,oauth-2025-04-20,interleaved-thinking-2025-05-14",
  ]);
  assert.equal(sent["anthropic-beta"], "claude-code-20250219,interleaved-thinking-2025-05-14");
  assert.equal(upstream(["anthropic-beta", "oauth-2025-04-20"])["anthropic-beta"], undefined);
});

test("requests an uncompressed response, whatever the client accepts", () => {
  const sent = upstream(["Accept-Encoding", "gzip, zstd"]);
  assert.deepEqual([sent["accept-encoding"], sent["Accept-Encoding"]], ["identity", undefined]);
  assert.equal(upstream([])["accept-encoding"], "identity");
});

/** Returns what remains of an upstream's headers. Those that keep a browser from running the body come last. */
function downstream(raw: string[]): string[] {
  const sent = buildDownstreamHeaders(new HeaderIndex(raw), secret);
  assert.deepEqual(sent.slice(-INERT_HEADERS.length), INERT_HEADERS);
  return sent.slice(0, -INERT_HEADERS.length);
}

test("sends the upstream's end-to-end headers to the client in order and spelling, including repeated ones", () => {
  const raw = ["Request-Id", "r", "retry-after", "3", "x-ratelimit-remaining", "0", "Vary", "a", "Vary", "b"];
  assert.deepEqual(downstream(raw), raw);
});

for (const name of [
  "Set-Cookie",
  "Access-Control-Allow-Origin",
  "Strict-Transport-Security",
  "Clear-Site-Data",
  "Refresh",
  "Alt-Svc",
  "Content-Security-Policy",
  "Content-Security-Policy-Report-Only",
  "X-Content-Type-Options",
  "Cross-Origin-Resource-Policy",
  "x-tollkeeper-refusal",
  "Connection",
  "Keep-Alive",
  "Transfer-Encoding",
]) {
  test(`does not send the upstream's ${name} to the client`, () => {
    assert.deepEqual(downstream([name, "x"]), []);
  });
}

test("redacts a key that the upstream echoes in a header", () => {
  assert.deepEqual(downstream(["x-debug", "got sk-real-one!"]), ["x-debug", "got ***********!"]);
});

test("drops a header whose value Node would refuse to write", () => {
  assert.deepEqual(downstream(["x-a", "a\u007fb", "x-b", "ok"]), ["x-b", "ok"]);
});

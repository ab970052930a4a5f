import type { Vendor } from "../errors.ts";

/** Rate limits that are reported but never enforced: throttling would only hinder tests. */
const REQUEST_LIMIT = 1000;
const TOKEN_LIMIT = 1_000_000;

/** Returns the headers that all responses of a vendor carry, errors included. */
export function buildResponseHeaders(vendor: Vendor, requestId: string): Record<string, string> {
  return { server: "tollkeeper-sandbox", ...vendorHeaders(vendor, requestId) };
}

function vendorHeaders(vendor: Vendor, requestId: string): Record<string, string> {
  switch (vendor) {
    case "anthropic":
      return anthropicHeaders(requestId);
    case "openai":
      return openaiHeaders(requestId);
    case "openrouter":
      return { "x-generation-id": requestId };
    case "bedrock":
      return { "x-amzn-requestid": requestId };
    case "google":
    case "ollama":
      return {};
  }
}

function anthropicHeaders(requestId: string): Record<string, string> {
  const headers: Record<string, string> = {
    "request-id": requestId,
    "anthropic-organization-id": "sandbox",
  };
  const reset = `${new Date().toISOString().slice(0, 19)}Z`;
  for (const kind of ["requests", "tokens", "input-tokens", "output-tokens"]) {
    const limit = String(kind === "requests" ? REQUEST_LIMIT : TOKEN_LIMIT);
    headers[`anthropic-ratelimit-${kind}-limit`] = limit;
    headers[`anthropic-ratelimit-${kind}-remaining`] = limit;
    headers[`anthropic-ratelimit-${kind}-reset`] = reset;
  }
  return headers;
}

function openaiHeaders(requestId: string): Record<string, string> {
  return {
    "x-request-id": requestId,
    "openai-organization": "sandbox",
    "openai-processing-ms": "1",
    "openai-version": "2020-10-01",
    "x-ratelimit-limit-requests": String(REQUEST_LIMIT),
    "x-ratelimit-limit-tokens": String(TOKEN_LIMIT),
    "x-ratelimit-remaining-requests": String(REQUEST_LIMIT),
    "x-ratelimit-remaining-tokens": String(TOKEN_LIMIT),
    "x-ratelimit-reset-requests": "0s",
    "x-ratelimit-reset-tokens": "0s",
  };
}

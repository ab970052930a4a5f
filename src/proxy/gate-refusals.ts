import type { KeyFailure } from "../core/failure.ts";
import type { Refusal, RefusalCode } from "../core/http/refusal.ts";
import type { ToolIdentity } from "../core/identity/tool-identity.ts";

// The refusals of requests that are not forwarded. Those that end a round trip are in exchange/limit-refusals.ts.

export const OTHER_USER: Refusal = {
  code: "peer_not_allowed",
  message: `another user's daemon listens here; run your own, or have its owner list your uid in "access.peerUid"`,
};

export const PIPELINED: Refusal = {
  code: "bad_request",
  message: "one request at a time per connection; pipelining is not supported",
  closesConnection: true,
};

/** RFC 9110 section 15.5.22 requires `Upgrade` on a 426. The connection is closed, as it could not be reused. */
export const NO_WEBSOCKETS: Refusal = {
  code: "upgrade_not_supported",
  message: "no WebSockets here; use POST",
  headers: ["upgrade", "HTTP/1.1", "connection", "upgrade, close"],
  closesConnection: true,
};

export const NO_TARGET: Refusal = { code: "not_found", message: "no such route" };

export const NO_ROUTE: Refusal = {
  code: "not_found",
  message:
    "no such route; there are GET /v1/models, POST /v1/responses, POST /v1/messages and POST /v1/messages/count_tokens, each also below /t/TOOL",
};

export const BODY_OF_GET: Refusal = { code: "bad_request", message: "a GET has no body here" };

/** 405: the path exists for other methods. */
export function wrongMethod(allowed: string): Refusal {
  const message = `this route takes ${allowed} only`;
  return { code: "method_not_allowed", message, headers: ["allow", allowed] };
}

const KEY_REFUSALS: Record<KeyFailure["code"], RefusalCode> = {
  missing: "key_missing",
  locked: "key_locked",
  unavailable: "key_unavailable",
  unresponsive: "key_unavailable",
  unsafe: "key_unavailable",
};

/** 503: the key is not stored, or its store cannot be read. */
export function noKey({ code, message, hint }: KeyFailure): Refusal {
  return { code: KEY_REFUSALS[code], message: [message, hint].filter(Boolean).join("; ") };
}

/** 401: token mode, and the request shows no registered token. `claimed` is who the request says it is. */
export function tokenRequired({ tool, by }: ToolIdentity): Refusal {
  const name = by === "unknown" ? "TOOL" : tool;
  return {
    code: "token_required",
    message: `a local token is needed here; have one written into the tool's settings with: tollkeeper connect ${name}; or make one with: tollkeeper token add ${name}`,
    // Required on a 401 (RFC 9110 section 15.5.2).
    headers: ["www-authenticate", 'Bearer realm="tollkeeper"'],
  };
}

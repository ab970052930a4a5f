import type { KeyFailure } from "../core/failure.ts";
import type { Refusal, RefusalCode } from "../core/http/refusal.ts";

// What a client is told whose request gets no further than the gate.

export const OTHER_USER: Refusal = {
  code: "peer_not_allowed",
  message: `another user's daemon listens here; run your own, or have its owner list your uid in "access.peerUid"`,
  closes: true,
};

export const PIPELINED: Refusal = {
  code: "bad_request",
  message: "one request at a time per connection; pipelining is not supported",
  closes: true,
};

/** RFC 9110 section 15.5.22 wants `Upgrade` on a 426; the connection is not worth keeping. */
export const NO_WEBSOCKETS: Refusal = {
  code: "upgrade_not_supported",
  message: "no WebSockets here; use POST",
  headers: ["upgrade", "HTTP/1.1", "connection", "upgrade, close"],
  closes: true,
};

export const NO_TARGET: Refusal = { code: "not_found", message: "no such route" };

export const NO_ROUTE: Refusal = {
  code: "not_found",
  message:
    "no such route; there are GET /v1/models, POST /v1/responses, POST /v1/messages and POST /v1/messages/count_tokens, each also below /t/TOOL",
};

export const BODY_OF_GET: Refusal = { code: "bad_request", message: "a GET has no body here" };

/** The route is there, for other methods. */
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

/** The key cannot be had. */
export function noKey({ code, message, hint }: KeyFailure): Refusal {
  return { code: KEY_REFUSALS[code], message: [message, hint].filter(Boolean).join("; ") };
}

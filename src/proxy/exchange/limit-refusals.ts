import type { Refusal } from "../../core/http/refusal.ts";

// What a client is told when a limit ends its request, and which setting it was.

/** The body is beyond the limit, whether that was announced or found out on the way. */
export function tooLarge(limitBytes: number): Refusal {
  const message = `the request body is larger than ${limitBytes} bytes ("limits.bodyBytes" in the configuration)`;
  return { code: "body_too_large", message };
}

/** The client has stopped within its body. */
export function tooSlow(limitMs: number): Refusal {
  const message = `the rest of the request's body did not come for ${limitMs} ms ("limits.bodyIdleMs" in the configuration)`;
  return { code: "body_timeout", message };
}

/** There is no connection to the upstream: neither one of its own nor a tunnel. */
export function noConnection(limitMs: number, isProxied: boolean): Refusal {
  const how = isProxied ? ' through the proxy ("outbound.httpsProxy" in the configuration)' : "";
  const message = `the upstream did not accept a connection${how} within ${limitMs} ms; to see more, type: tollkeeper key test`;
  return { code: "upstream_timeout", message };
}

/** The upstream does not read what it is sent. */
export function tooStuck(limitMs: number): Refusal {
  const message = `the upstream took nothing of the request for ${limitMs} ms ("limits.firstByteMs" in the configuration)`;
  return { code: "upstream_timeout", message };
}

/** The upstream has the whole request, and no answer. */
export function tooSilent(limitMs: number): Refusal {
  const message = `the upstream sent no answer for ${limitMs} ms ("limits.firstByteMs" in the configuration)`;
  return { code: "upstream_timeout", message };
}

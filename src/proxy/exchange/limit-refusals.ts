import type { Refusal } from "../../core/http/refusal.ts";

// The refusals of requests that a limit ends. Each names the setting.

/** 413: the body exceeds the limit, by its announced length or by the bytes received. */
export function tooLarge(limitBytes: number): Refusal {
  const message = `the request body is larger than ${limitBytes} bytes ("limits.bodyBytes" in the configuration)`;
  return { code: "body_too_large", message };
}

/** 408: the client stopped sending within the body. */
export function tooSlow(limitMs: number): Refusal {
  const message = `the rest of the request's body did not come for ${limitMs} ms ("limits.bodyIdleMs" in the configuration)`;
  return { code: "body_timeout", message };
}

/** 504: no connection to the upstream, directly or through the proxy. */
export function noConnection(limitMs: number, isProxied: boolean): Refusal {
  const how = isProxied ? ' through the proxy ("outbound.httpsProxy" in the configuration)' : "";
  const message = `the upstream did not accept a connection${how} within ${limitMs} ms; to see more, type: tollkeeper key test`;
  return { code: "upstream_timeout", message };
}

/** 504: the upstream does not read the request. */
export function tooStuck(limitMs: number): Refusal {
  const message = `the upstream took nothing of the request for ${limitMs} ms ("limits.firstByteMs" in the configuration)`;
  return { code: "upstream_timeout", message };
}

/** 504: the upstream has the whole request and sends no response. */
export function tooSilent(limitMs: number): Refusal {
  const message = `the upstream sent no answer for ${limitMs} ms ("limits.firstByteMs" in the configuration)`;
  return { code: "upstream_timeout", message };
}

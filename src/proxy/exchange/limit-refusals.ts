import type { Refusal } from "../../core/http/refusal.ts";

// The refusals for requests that exceed a limit. Each names the setting.

const EDIT = "tollkeeper config edit";

/** Shows the last failure of each upstream. `doctor` would find nothing if the upstream has recovered since. */
const STATUS = "tollkeeper status";

/** 413: the body exceeds the limit, by its announced length or by the bytes received. */
export function tooLarge(limitBytes: number): Refusal {
  const details = `"limits.bodyBytes" allows ${limitBytes} bytes`;
  return { code: "body_too_large", problem: "the request body is too large", command: EDIT, details };
}

/** 503: too many bodies wait until their model is known. */
export function bufferFull(): Refusal {
  const details = `the model is at the end of a long body, and "limits.bufferBytes" is used up by others; try again`;
  return { code: "buffer_full", problem: "too much is waiting", command: EDIT, details };
}

/** 408: the client stopped sending within the body. */
export function tooSlow(limitMs: number): Refusal {
  const details = `no data arrived for ${limitMs} ms ("limits.bodyIdleMs")`;
  return { code: "body_timeout", problem: "the request body stopped arriving", command: EDIT, details };
}

/** 504: no connection to the upstream, directly or through the proxy. */
export function noConnection(limitMs: number, isProxied: boolean): Refusal {
  const how = isProxied ? ' through the proxy ("outbound.httpsProxy")' : "";
  const details = `it accepted no connection${how} within ${limitMs} ms`;
  return { code: "upstream_timeout", problem: "the upstream does not respond", command: STATUS, details };
}

/** 504: the upstream does not read the request. */
export function tooStuck(limitMs: number): Refusal {
  const details = `it read none of the request for ${limitMs} ms ("limits.firstByteMs")`;
  return { code: "upstream_timeout", problem: "the upstream does not respond", command: STATUS, details };
}

/** 504: the upstream has the whole request and sends no response. */
export function tooSilent(limitMs: number): Refusal {
  const details = `it sent no response for ${limitMs} ms ("limits.firstByteMs")`;
  return { code: "upstream_timeout", problem: "the upstream does not respond", command: STATUS, details };
}

import type { Refusal } from "./refusal.ts";
import { nameUpstream, type NamedUpstream } from "./upstreams.ts";

// The refusals for requests that exceed a limit. Each names the setting.

const EDIT = "tollkeeper config edit";

/** Shows the last failure of each upstream. `doctor` would find nothing if the upstream has recovered since. */
const STATUS = "tollkeeper status";

/** 413: the body exceeds the limit, by its announced length or by the bytes received. */
export function tooLarge(limitBytes: number): Refusal {
  const reason = `"limits.bodyBytes" allows ${limitBytes} bytes`;
  return { code: "body_too_large", problem: "the request body is too large", reason, command: EDIT };
}

/** 431: the request's target and headers are too long together. No setting allows more. */
export function headTooLarge(limitBytes: number): Refusal {
  const reason = `the target and the headers may have ${limitBytes} bytes together`;
  return {
    code: "head_too_large",
    problem: "the head of the request is too large",
    reason,
    command: "tollkeeper check",
    closesConnection: true,
  };
}

/** 503: too many bodies wait until their model is known. */
export function bufferFull(): Refusal {
  const reason = `the model is at the end of a long body, and "limits.bufferBytes" is used up by others`;
  const advice = "try again";
  return { code: "buffer_full", problem: "too much is waiting", reason, advice, command: EDIT };
}

/** 503: a request that has to be signed does not fit into memory. */
export function noRoomToSign(): Refusal {
  const reason =
    'a request is signed once its whole body is there, and "limits.bufferBytes" has no room for this one';
  const advice = "send less, or try again when less is waiting";
  return { code: "buffer_full", problem: "too much is waiting", reason, advice, command: EDIT };
}

/** 503: a WebSocket has asked for more responses than may run and wait on it. */
export function tooManyMessages(most: number): Refusal {
  const reason = `a WebSocket may have asked for ${most} responses that have not ended`;
  return {
    code: "buffer_full",
    problem: "too much is waiting",
    reason,
    advice: "try again",
    command: STATUS,
  };
}

/** 408: the client stopped sending within the body. */
export function tooSlow(limitMs: number): Refusal {
  const reason = `no data arrived for ${limitMs} ms ("limits.bodyIdleMs")`;
  return { code: "body_timeout", problem: "the request body stopped arriving", reason, command: EDIT };
}

/** 504: no connection to the upstream, directly or through the proxy. */
export function noConnection(upstream: NamedUpstream, limitMs: number, isProxied: boolean): Refusal {
  const how = isProxied ? ' through the proxy ("outbound.httpsProxy")' : "";
  return timedOut("tollkeeper cannot reach", upstream, "", `no connection${how} within ${limitMs} ms`);
}

/** 504: the upstream does not read the request. */
export function tooStuck(upstream: NamedUpstream, limitMs: number): Refusal {
  const reason = `it read none of it for ${limitMs} ms ("limits.firstByteMs")`;
  return timedOut("the request is stuck at", upstream, "", reason);
}

/** 504: the upstream has the whole request and sends no response. */
export function tooSilent(upstream: NamedUpstream, limitMs: number): Refusal {
  const reason = `it sent nothing for ${limitMs} ms ("limits.firstByteMs")`;
  return { ...timedOut("", upstream, " does not respond", reason), mayBeDone: true };
}

function timedOut(before: string, upstream: NamedUpstream, after: string, reason: string): Refusal {
  const problem = `${before} ${nameUpstream(upstream)}${after}`.trim();
  return { code: "upstream_timeout", problem, reason, command: STATUS };
}

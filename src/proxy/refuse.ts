import type { IncomingMessage, ServerResponse } from "node:http";
import { renderRefusal, type Api, type Refusal } from "../core/http/refusal.ts";

/** What is read of a refused request's body, so that a client that is still writing gets to read our answer. */
const DRAIN_LIMIT_BYTES = 8 * 1024 * 1024;
export const DRAIN_LIMIT_MS = 2_000;

/**
 * Answers in tollkeeper's own name. A body that was not read to its end is thrown away as it comes, for a while, and
 * the connection then closed: closing at once would reset it under the client's feet and lose the answer.
 */
export function refuse(req: IncomingMessage, res: ServerResponse, refusal: Refusal, api: Api): void {
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  if (refusal.closes === true) res.shouldKeepAlive = false;
  if (isWhole(req)) answer(req, res, refusal, api);
  // The rest may have come together with the head, or a fault of it that Node answers by itself.
  else process.nextTick(() => answer(req, res, refusal, api));
}

function answer(req: IncomingMessage, res: ServerResponse, refusal: Refusal, api: Api): void {
  if (res.headersSent || res.destroyed) return;
  const { status, headers, body } = renderRefusal(refusal, api);
  if (isWhole(req)) {
    res.writeHead(status, headers).end(body);
    return;
  }
  // Node then says `connection: close`, and we take nothing more on it.
  res.shouldKeepAlive = false;
  res.writeHead(status, headers);
  res.write(body);
  discardBody(req, () => res.end());
}

function isWhole(req: IncomingMessage): boolean {
  return req.complete || !hasBody(req);
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
}

/** Reads and forgets the rest of a request's body; calls back once, at its end or when enough is enough. */
export function discardBody(req: IncomingMessage, done: () => void): void {
  let drainedBytes = 0;
  const timer = setTimeout(stop, DRAIN_LIMIT_MS);
  function stop(): void {
    clearTimeout(timer);
    req.off("data", count);
    req.off("end", stop);
    req.off("close", stop);
    done();
  }
  function count(chunk: Buffer): void {
    drainedBytes += chunk.length;
    if (drainedBytes > DRAIN_LIMIT_BYTES) stop();
  }
  req.on("data", count);
  req.on("end", stop);
  req.on("close", stop);
  req.resume();
}

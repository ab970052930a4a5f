import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Api } from "../../core/http/api.ts";
import { renderRefusal, type Refusal } from "../../core/refusals/refusal.ts";
import { discardBody, DRAIN_LIMIT_MS } from "./discard-body.ts";

/**
 * Sends a refusal. The rest of a body that is still arriving is discarded for a while before the connection closes: closing it
 * at once would reset the connection, and the client might lose the response.
 */
export function sendRefusal(
  req: IncomingMessage,
  res: ServerResponse,
  refusal: Refusal,
  api: Api,
  configOption: string,
): void {
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  if (refusal.closesConnection === true) res.shouldKeepAlive = false;
  if (isWhole(req)) respond(req, res, refusal, api, configOption);
  // The next tick shows whether the rest arrived together with the head, or a fault in it to which Node responds itself.
  else process.nextTick(() => respond(req, res, refusal, api, configOption));
}

/** Sends a refusal on a connection without a valid request, and closes it: after a while, as the client may still be sending. */
export function sendRaw(socket: Socket, refusal: Refusal, api: Api, configOption: string): void {
  const { status, headers, body } = renderRefusal(refusal, api, configOption);
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}\r\n`] : []));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}connection: close\r\n\r\n`;
  socket.end(head + body.toString());
  const timer = setTimeout(() => socket.destroy(), DRAIN_LIMIT_MS);
  socket.once("close", () => clearTimeout(timer));
}

/** Returns what Node sends by itself where its parser fails with `code`, or no request comes in time. */
export function bareResponse(code: string | undefined): string {
  return `HTTP/1.1 ${BARE[code ?? ""] ?? "400 Bad Request"}\r\nConnection: close\r\n\r\n`;
}

const BARE: Record<string, string> = {
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

function respond(
  req: IncomingMessage,
  res: ServerResponse,
  refusal: Refusal,
  api: Api,
  configOption: string,
): void {
  if (res.headersSent || res.destroyed) return;
  const { status, headers, body } = renderRefusal(refusal, api, configOption);
  if (isWhole(req)) {
    res.writeHead(status, headers).end(body);
    return;
  }
  // Makes Node send `connection: close`.
  res.shouldKeepAlive = false;
  res.writeHead(status, headers);
  res.write(body);
  discardBody(req, () => res.end());
}

function isWhole(req: IncomingMessage): boolean {
  const { "transfer-encoding": encoding, "content-length": length } = req.headers;
  return req.complete || (encoding === undefined && !(Number(length ?? 0) > 0));
}

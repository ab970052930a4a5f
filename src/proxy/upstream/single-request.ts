import { request, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { InvalidResponse } from "../../core/http/framing.ts";
import { readStart } from "../../core/http/read-start.ts";
import { MOST_INTERIM, TOO_MANY_INTERIM } from "../../core/http/response-parser.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { Dial } from "./dial.ts";

/** Far more than a list of models takes. The rest is not read. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** A request of tollkeeper's own to an upstream. */
interface OwnRequest {
  method: "GET" | "POST";
  /** With its query. */
  path: string;
  /** A flat list, complete but for what {@link requestOnce} adds to each. */
  headers: readonly string[];
  body: Buffer | null;
}

/** An upstream's response to one, and how it was reached. Times are in milliseconds. */
export interface OwnResponse {
  status: number;
  contentType: string;
  /** The target of a redirect, as sent, with the key redacted; null without one. */
  location: string | null;
  /** The version of what was sent, with the key redacted; null without one (RFC 9110 section 8.8.3). */
  etag: string | null;
  /** AWS's name of an error, without what may follow it; null without one. */
  errorType: string | null;
  /** With the key redacted. */
  text: string;
  /** Until the connection is ready: TCP, the proxy's tunnel and TLS. */
  connectMs: number;
  /** From then to the end of the response. */
  responseMs: number;
  /** null over plain http. */
  tls: { protocol: string; certificateEnds: Date } | null;
  /** The upstream's clock, from its `date` header, milliseconds since 1970; null when it sent none. */
  date: number | null;
}

/** The headers that each request has, as a flat list. */
export function commonHeaders(origin: string): string[] {
  const { host } = new URL(origin);
  return ["host", host, "accept", "application/json", "accept-encoding", "identity", "connection", "close"];
}

/**
 * Sends a request over a connection of its own. Does not use `fetch`, which follows redirects by default (SECURITY.md B4) and ignores
 * our proxy and TLS settings.
 * @param secret what the request carries, to be redacted from the response
 */
export async function requestOnce(
  asked: OwnRequest,
  secret: Secret,
  dial: Dial,
  signal: AbortSignal,
): Promise<OwnResponse> {
  const startedAt = performance.now();
  const socket = dial.open();
  let connectedAt = startedAt;
  socket.once(dial.readyEvent, () => (connectedAt = performance.now()));
  try {
    const response = await send(socket, asked, signal);
    const tls = describeTls(socket);
    const text = secret.redactText((await readStart(response, MAX_BODY_BYTES)).toString());
    const [connectMs, responseMs] = [connectedAt - startedAt, performance.now() - connectedAt];
    const sentAt = Date.parse(response.headers.date ?? "");
    const { location, etag, "x-amzn-errortype": errorType } = response.headers;
    return {
      status: response.statusCode ?? 0,
      contentType: response.headers["content-type"] ?? "",
      location: location === undefined ? null : secret.redactText(location),
      etag: etag === undefined ? null : secret.redactText(etag),
      errorType: typeof errorType === "string" ? (/^[A-Za-z]+/.exec(errorType)?.[0] ?? null) : null,
      text,
      connectMs,
      responseMs,
      tls,
      date: Number.isNaN(sentAt) ? null : sentAt,
    };
  } finally {
    socket.destroy();
  }
}

function send(
  socket: Socket,
  { method, path, headers, body }: OwnRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const options = {
    method,
    path,
    headers: [...headers],
    setHost: false,
    insecureHTTPParser: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    let interim = 0;
    // The socket does TLS itself, so this is plain HTTP to Node.
    const asked = request({ ...options, createConnection: () => socket }, resolve)
      .once("error", reject)
      .on("information", () => {
        interim += 1;
        if (interim > MOST_INTERIM) asked.destroy(new InvalidResponse(TOO_MANY_INTERIM));
      });
    asked.end(body ?? undefined);
  });
}

function describeTls(socket: Socket): OwnResponse["tls"] {
  if (!(socket instanceof TLSSocket)) return null;
  const { valid_to: end } = socket.getPeerCertificate();
  return { protocol: socket.getProtocol() ?? "unknown", certificateEnds: new Date(end) };
}

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readBody } from "./client.ts";

/** A request as the upstream received it. */
export interface RecordedRequest {
  method: string;
  /** Path and query, as in the request line. */
  path: string;
  /** Flat list, as in `IncomingMessage.rawHeaders`. */
  headers: string[];
  body: Buffer;
}

/** Responds to one request, whose body has been read. */
export type Responder = (res: ServerResponse) => void;

/** A small Messages response, for requests that have no responder. */
const DEFAULT_RESPONSE = Buffer.from(
  `{"id":"msg_check","type":"message","role":"assistant","model":"check","content":[],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`,
);

/** Headers of an event stream. */
export const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8" };

/** An upstream on loopback that records requests and responds as a check tells it to. */
export interface RecordingUpstream {
  port: number;
  /** Scheme, host and port. */
  origin: string;
  /** Every request received, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** Responds to the next request only; those after it get a small Messages response. */
  respondOnce(responder: Responder): void;
  /** Leaves the next request without a response, and resolves with the object to send one. */
  holdNext(): Promise<ServerResponse>;
  close(): Promise<void>;
}

/** Starts an upstream on a free port of 127.0.0.1. */
export async function startRecordingUpstream(): Promise<RecordingUpstream> {
  const requests: RecordedRequest[] = [];
  let next = respondByDefault;
  const server = createServer((req, res) => {
    void readRequest(req).then((request) => {
      if (request === null) return;
      const responder = next;
      next = respondByDefault;
      requests.push(request);
      responder(res);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    requests,
    respondOnce: (responder) => (next = responder),
    holdNext: () => new Promise((resolve) => (next = resolve)),
    async close() {
      const closed = once(server.close(), "close");
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Sends status 200 with a JSON body and its length. */
export function sendJson(res: ServerResponse, body: Buffer): void {
  res.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
}

function respondByDefault(res: ServerResponse): void {
  sendJson(res, DEFAULT_RESPONSE);
}

/** Returns the whole request; null when the client disconnected before the end. */
async function readRequest(req: IncomingMessage): Promise<RecordedRequest | null> {
  const { method = "", url: path = "", rawHeaders: headers } = req;
  try {
    return { method, path, headers, body: await readBody(req) };
  } catch {
    return null;
  }
}

import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { constants, createGzip, gzipSync } from "node:zlib";
import type { JsonObject } from "../../core/json.ts";
import type { Switches } from "../switches.ts";

/** A response that has not been sent yet, and how to send it. */
export interface PendingResponse {
  response: ServerResponse;
  headers: Readonly<Record<string, string>>;
  switches: Readonly<Switches>;
  /** Aborted when the client disconnects. */
  clientGone: AbortSignal;
}

/** A comment of an event stream, such as the ones that keep a connection alive. */
const COMMENT = ": SANDBOX PROCESSING\n\n";

/** Sends a JSON body. */
export function sendJson(pending: PendingResponse, status: number, body: JsonObject): void {
  sendBytes(pending, status, Buffer.from(JSON.stringify(body)), "application/json");
}

/** Sends a body of any type. */
export function sendBytes(pending: PendingResponse, status: number, body: Buffer, type: string): void {
  const { response, switches } = pending;
  const bytes = switches.gzip ? gzipSync(body) : body;
  writeHead(pending, status, { "content-type": type, "content-length": bytes.length });
  if (switches.cutAfter === null) response.end(bytes);
  else {
    response.write(bytes.subarray(0, switches.cutAfter));
    closeAbruptly(pending);
  }
}

/**
 * Sends a stream, each of its events or frames in a separate write. Only events have lines and comments.
 * @throws AbortError when the client disconnects before its end
 */
export async function sendEvents(
  pending: PendingResponse,
  events: readonly (string | Buffer)[],
  type = "text/event-stream; charset=utf-8",
): Promise<void> {
  const { response, switches, clientGone } = pending;
  writeHead(pending, 200, { "content-type": type, "cache-control": "no-cache" });
  response.flushHeaders();
  const writer = switches.gzip ? gzipWriter(response) : plainWriter(response, clientGone);
  for (const event of events.slice(0, switches.cutAfter ?? events.length)) {
    await writer.write(typeof event === "string" ? decorate(event, switches) : event);
    if (switches.paceMs > 0) await wait(switches.paceMs, undefined, { signal: clientGone });
  }
  if (switches.cutAfter === null) writer.end();
  else closeAbruptly(pending);
}

/** Sends nothing until the client disconnects. */
export async function keepSilent({ clientGone }: PendingResponse): Promise<void> {
  if (!clientGone.aborted) await once(clientGone, "abort");
}

/** Resets the connection before the first byte of the response. */
export function resetUnanswered({ response }: PendingResponse): void {
  response.socket?.resetAndDestroy();
}

function decorate(event: string, { comments, crlf }: Readonly<Switches>): string {
  const whole = comments ? COMMENT + event : event;
  return crlf ? whole.replaceAll("\n", "\r\n") : whole;
}

function writeHead(pending: PendingResponse, status: number, own: OutgoingHttpHeaders): void {
  const { response, headers, switches } = pending;
  const coding = switches.gzip && { "content-encoding": "gzip" };
  response.writeHead(status, { ...headers, ...coding, ...own });
}

/** Closes or resets the connection once what was written is sent, without a proper end of the body. */
function closeAbruptly({ response, switches }: PendingResponse): void {
  const { socket } = response;
  // In the next turn: Node 26 passes on to the socket only then what was written in this one.
  setImmediate(() => {
    if (switches.reset) socket?.write("", () => socket.resetAndDestroy());
    else socket?.destroySoon();
  });
}

interface EventWriter {
  write(event: string | Buffer): Promise<void>;
  end(): void;
}

function plainWriter(response: ServerResponse, gone: AbortSignal): EventWriter {
  return {
    async write(event) {
      if (!response.write(event)) await once(response, "drain", { signal: gone });
    },
    end: () => response.end(),
  };
}

/** Flushes after each event, so that the client can decode it at once. */
function gzipWriter(response: ServerResponse): EventWriter {
  const gzip = createGzip();
  gzip.on("data", (bytes: Buffer) => response.write(bytes));
  gzip.on("end", () => response.end());
  return {
    write(event) {
      gzip.write(event);
      return new Promise((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, () => resolve()));
    },
    end: () => gzip.end(),
  };
}

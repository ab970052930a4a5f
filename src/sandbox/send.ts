import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { constants, createGzip, gzipSync } from "node:zlib";
import type { StreamEvent } from "./call.ts";
import type { JsonObject } from "./json.ts";
import type { Switches } from "./switches.ts";

/** Where an answer goes, and how its request wants it sent. */
export interface Outlet {
  response: ServerResponse;
  headers: Readonly<Record<string, string>>;
  switches: Readonly<Switches>;
  /** Aborted when the client is gone. */
  gone: AbortSignal;
}

export function sendJson(outlet: Outlet, status: number, body: JsonObject): void {
  const { response, headers, switches } = outlet;
  const json = JSON.stringify(body);
  const bytes = switches.gzip ? gzipSync(json) : Buffer.from(json);
  response.writeHead(status, {
    ...headers,
    ...codingHeaders(switches),
    "content-type": "application/json",
    "content-length": bytes.length,
  });
  if (switches.cutAfter === null) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, switches.cutAfter));
  cut(response);
}

/** Sends an event stream, each event on its own; rejects with an AbortError when the client leaves before its end. */
export async function sendEvents(outlet: Outlet, events: readonly StreamEvent[]): Promise<void> {
  const { response, headers, switches, gone } = outlet;
  response.writeHead(200, {
    ...headers,
    ...codingHeaders(switches),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  });
  response.flushHeaders();
  const writer = switches.gzip ? gzipWriter(response) : plainWriter(response, gone);
  for (const event of events.slice(0, switches.cutAfter ?? events.length)) {
    await writer.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    if (switches.paceMs > 0) await wait(switches.paceMs, undefined, { signal: gone });
  }
  if (switches.cutAfter === null) writer.end();
  else cut(response);
}

function codingHeaders(switches: Readonly<Switches>): Record<string, string> {
  return switches.gzip ? { "content-encoding": "gzip" } : {};
}

/** What was written still goes out, and then the connection breaks off: no clean end for the client. */
function cut(response: ServerResponse): void {
  response.socket?.destroySoon();
}

interface EventWriter {
  write(text: string): Promise<void>;
  end(): void;
}

function plainWriter(response: ServerResponse, gone: AbortSignal): EventWriter {
  return {
    async write(text) {
      if (!response.write(text)) await once(response, "drain", { signal: gone });
    },
    end: () => response.end(),
  };
}

/** Flushed after each event, so that a client can decode it at once. */
function gzipWriter(response: ServerResponse): EventWriter {
  const gzip = createGzip();
  gzip.on("data", (bytes: Buffer) => response.write(bytes));
  gzip.on("end", () => response.end());
  return {
    write(text) {
      gzip.write(text);
      return new Promise((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, () => resolve()));
    },
    end: () => gzip.end(),
  };
}

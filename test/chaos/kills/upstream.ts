import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { MESSAGE, sendJson, SSE } from "../../helpers/upstream/scripted-upstream.ts";
import { outputTokens, type BookEntry, type Books } from "./books.ts";

/** The request's number, which the ledger records as its session. */
export const NUMBER_HEADER = "x-session-id";

const EVENT_MS = 50;

/** Only a line of several pages can be torn by a kill: Linux checks for a fatal signal between two pages of a write. */
const LONG_USAGE = { note: Array.from({ length: 400 }, () => "a-usage-of-many-pages") };

/** An upstream that responds as the book entry of each request says, and books when. */
export async function startBookkeepingUpstream(books: Books): Promise<{ server: Server; baseUrl: string }> {
  const server = createServer((req, res) => {
    const entry = books.entryOf(String(req.headers[NUMBER_HEADER]));
    // A kill cuts most of them.
    if (entry !== undefined) respond(entry, req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

async function respond(entry: BookEntry, req: IncomingMessage, res: ServerResponse): Promise<void> {
  entry.receivedAt = performance.now();
  await buffer(req);
  switch (entry.kind) {
    case "silent":
      await delay(entry.lastsMs);
      return sendMessage(entry, res);
    case "short":
    case "slow upload":
      return sendMessage(entry, res);
    case "short stream":
      return sendStream(entry, res, 0);
    case "late stream":
      res.writeHead(200, SSE).flushHeaders();
      await delay(entry.lastsMs / 2);
      return sendStream(entry, res, entry.lastsMs / 2);
    case "stream":
    case "abandoned stream":
      return sendStream(entry, res, entry.lastsMs);
  }
}

function usageOf({ number }: BookEntry): object {
  return { input_tokens: number, output_tokens: 1, ...(number % 3 === 0 ? LONG_USAGE : {}) };
}

function sendMessage(entry: BookEntry, res: ServerResponse): void {
  entry.usageAt = performance.now();
  const usage = { ...usageOf(entry), output_tokens: outputTokens(entry.number) };
  sendJson(res, { ...MESSAGE, id: `msg_${entry.number}`, usage });
}

async function sendStream(entry: BookEntry, res: ServerResponse, lastsMs: number): Promise<void> {
  const send = (event: { type: string }) =>
    res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  if (!res.headersSent) res.writeHead(200, SSE);
  entry.usageAt = performance.now();
  const message = { ...MESSAGE, id: `msg_${entry.number}`, content: [], usage: usageOf(entry) };
  send({ type: "message_start", message } as { type: string });
  for (let left = lastsMs; left > 0 && !res.destroyed; left -= EVENT_MS) {
    send({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word " } } as {
      type: string;
    });
    await delay(Math.min(left, EVENT_MS));
  }
  const usage = { output_tokens: outputTokens(entry.number) };
  send({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage } as { type: string });
  send({ type: "message_stop" });
  res.end();
}

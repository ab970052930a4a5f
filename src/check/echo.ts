import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the echo got it. */
export interface Seen {
  method: string;
  /** Path and query, as they were in the request line. */
  path: string;
  /** Flat list, as `IncomingMessage.rawHeaders` has it. */
  headers: string[];
  body: Buffer;
}

/** Answers one request, whose body has been read. */
export type Script = (res: ServerResponse) => void;

/** A small Messages answer: what the echo says when it is told nothing else. */
export const PLAIN_ANSWER = Buffer.from(
  `{"id":"msg_check","type":"message","role":"assistant","model":"check","content":[],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`,
);

/** An upstream on loopback that keeps what it saw, and answers as a check tells it to. Costs nothing. */
export interface Echo {
  port: number;
  /** Scheme, host and port. */
  origin: string;
  /** Every request that came, oldest first. */
  readonly seen: readonly Seen[];
  /** The answer to the next request; those after it get {@link PLAIN_ANSWER} again. */
  answerNext(script: Script): void;
  /** Leaves the next request unanswered, and resolves with what can answer it. */
  holdNext(): Promise<ServerResponse>;
  close(): Promise<void>;
}

/** Starts an echo on a free port of 127.0.0.1. */
export async function startEcho(): Promise<Echo> {
  const seen: Seen[] = [];
  let next = answerPlainly;
  const server = createServer((req, res) => {
    void takeIn(req).then((request) => {
      if (request === null) return;
      const script = next;
      next = answerPlainly;
      seen.push(request);
      script(res);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    seen,
    answerNext: (script) => (next = script),
    holdNext: () => new Promise((resolve) => (next = resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers 200 with JSON and its length. */
export function answerJson(res: ServerResponse, body: Buffer): void {
  res.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
}

/** The head of an event stream. */
export const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8" };

function answerPlainly(res: ServerResponse): void {
  answerJson(res, PLAIN_ANSWER);
}

/** The whole request; null when its sender left before the end. */
async function takeIn(req: IncomingMessage): Promise<Seen | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of req) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  const { method = "", url: path = "", rawHeaders: headers } = req;
  return { method, path, headers, body: Buffer.concat(chunks) };
}

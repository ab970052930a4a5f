import { createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { readHead, readMessages, type RawMessage } from "../client/http-messages.ts";
import { listenOnLoopback } from "./loopback-port.ts";

/** One connection from the gate to a raw upstream. */
export interface RawConnection {
  socket: Socket;
  /** Every byte received so far (latin1). */
  received: string;
  /** The complete requests, as a strict parser sees them. */
  requests: RawMessage[];
  /** What is not part of a complete request: an incomplete or truncated one, or what follows a fault. */
  rest: string;
  /** The first violation of the grammar. */
  fault: string | null;
  closed: Promise<void>;
}

/** Responds to one request with raw bytes. */
export type RawScript = (request: RawMessage, connection: RawConnection) => void;

/** A keep-alive upstream that parses strictly and by itself, because Node's parser might hide faults. */
export interface RawUpstream {
  origin: string;
  baseUrl: string;
  /** In the order they were opened. */
  connections: RawConnection[];
  /** The complete requests of all connections, in order of arrival. */
  requests: RawMessage[];
  /** Replaces the script for subsequent requests. */
  respondWith(script: RawScript): void;
}

/**
 * Starts a raw upstream that ends with the test. The script is called once for each request: when the request is
 * complete, or with `at: "head"` as soon as its head is (`body` is then empty).
 */
export async function startRawUpstream(
  t: TestContext,
  script: RawScript,
  { at = "end" }: { at?: "head" | "end" } = {},
): Promise<RawUpstream> {
  let current = script;
  const connections: RawConnection[] = [];
  const requests: RawMessage[] = [];
  const server = createServer((socket) => {
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    const connection: RawConnection = { socket, received: "", requests: [], rest: "", fault: null, closed };
    connections.push(connection);
    let isAnswered = false;
    socket.setEncoding("latin1");
    socket.on("error", () => {});
    socket.on("data", (text: string) => {
      connection.received += text;
      for (const request of readRequests(connection, text)) {
        requests.push(request);
        if (!isAnswered) current(request, connection);
        isAnswered = false;
      }
      const head =
        at === "head" && !isAnswered && connection.fault === null ? readHead(connection.rest) : null;
      if (head === null) return;
      isAnswered = true;
      current(head.message, connection);
    });
    t.after(() => socket.destroy());
  });
  const port = await listenOnLoopback(server);
  t.after(() => void server.close());
  const origin = `http://127.0.0.1:${port}`;
  return { origin, baseUrl: `${origin}/v1`, connections, requests, respondWith: (next) => (current = next) };
}

/** Parses the new bytes; returns the requests they completed. */
function readRequests(connection: RawConnection, text: string): RawMessage[] {
  connection.rest += text;
  if (connection.fault !== null) return [];
  const { messages, rest, fault } = readMessages(connection.rest);
  connection.rest = rest;
  connection.fault = fault;
  connection.requests.push(...messages);
  return messages;
}

/** Returns the bytes of a complete JSON response. `fields` are more header lines, each with its CRLF. */
export function rawResponse(body: string, fields = "", status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`;
}

/** Sends the request's body back, so that every client recognises its own response. */
export const echo: RawScript = ({ body }, { socket }) => {
  socket.write(rawResponse(JSON.stringify({ echo: body })), "latin1");
};

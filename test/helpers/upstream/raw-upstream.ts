import { createServer, type AddressInfo, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { readHead, readMessages, type RawMessage } from "../client/http-messages.ts";

/** One connection that the gate made to a raw upstream. */
export interface RawConnection {
  socket: Socket;
  /** Every byte so far (latin1). */
  received: string;
  /** The whole requests among them, as a strict reader sees them. */
  requests: RawMessage[];
  /** What is no whole request: one that is under way or was cut, or what follows a violation of the grammar. */
  rest: string;
  /** What the strict reader did not like. */
  fault: string | null;
  closed: Promise<void>;
}

/** Answers one request with bytes as they are. */
export type RawScript = (request: RawMessage, connection: RawConnection) => void;

/** An upstream of raw bytes: keep-alive, strict, and without a parser of Node's that could hide anything. */
export interface RawUpstream {
  origin: string;
  baseUrl: string;
  /** In the order in which they were made. */
  connections: RawConnection[];
  /** Whole requests of all connections, in the order of their arrival. */
  requests: RawMessage[];
  /** Replaces the script for the requests that follow. */
  respondWith(script: RawScript): void;
}

/**
 * Starts a raw upstream that ends with the test. The script is called once for each request: when it is whole, or with
 * `at: "head"` as soon as its head is there (its body is then empty).
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
      const whole = readRequests(connection, text);
      for (const request of whole) {
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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, baseUrl: `${origin}/v1`, connections, requests, respondWith: (next) => (current = next) };
}

/** Reads what is new; returns the requests that became whole. */
function readRequests(connection: RawConnection, text: string): RawMessage[] {
  connection.rest += text;
  if (connection.fault !== null) return [];
  const { messages, rest, fault } = readMessages(connection.rest);
  connection.rest = rest;
  connection.fault = fault;
  connection.requests.push(...messages);
  return messages;
}

/** A whole JSON answer as bytes; `fields` are further header lines, each with its line end. */
export function rawResponse(body: string, fields = "", status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`;
}

/** Sends a request's body back, so that every client knows its own answer. */
export const echo: RawScript = ({ body }, { socket }) => {
  socket.write(rawResponse(JSON.stringify({ echo: body })), "latin1");
};

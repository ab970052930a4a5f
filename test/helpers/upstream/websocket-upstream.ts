import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { WebSocketServer, type PerMessageDeflateOptions, type WebSocket } from "ws";
import { withResolvers } from "../async/with-resolvers.ts";
import { listenOnLoopback } from "./loopback-port.ts";

/** A message of the Responses API, as far as tests look at it. */
export interface SeenMessage {
  type?: string;
  model?: string;
  stream_id?: string;
  [name: string]: unknown;
}

/** An upstream that speaks the WebSocket mode of the Responses API. */
export interface WebSocketUpstream {
  /** `http://127.0.0.1:PORT/v1` */
  baseUrl: string;
  /** The handshakes that it has accepted, oldest first. */
  handshakes: IncomingMessage[];
  /** The messages that it has got. */
  messages: SeenMessage[];
  /** The WebSockets that it has accepted, oldest first. */
  sockets: WebSocket[];
  /** Resolves with the next WebSocket that is opened. */
  next(): Promise<WebSocket>;
}

/** How it treats a message: by default it responds at once, as {@link respond} does. */
export type OnMessage = (socket: WebSocket, message: SeenMessage) => void;

export interface WebSocketOptions {
  onMessage?: OnMessage | undefined;
  /** Headers of its 101. */
  headers?: Record<string, string> | undefined;
  /** How it compresses, if that is offered. */
  perMessageDeflate?: PerMessageDeflateOptions | undefined;
  /** Where it has them; `/v1/responses` by default. */
  path?: string | undefined;
}

/** Starts an upstream that ends with the test. */
export async function startWebSocketUpstream(
  t: TestContext,
  {
    onMessage = (socket, message) => respond(socket, message),
    headers = {},
    perMessageDeflate = {},
    path = "/v1/responses",
  }: WebSocketOptions = {},
): Promise<WebSocketUpstream> {
  const http = createServer((_req, res) => res.writeHead(404).end());
  const server = new WebSocketServer({ server: http, path, perMessageDeflate });
  const upstream: WebSocketUpstream = {
    baseUrl: "",
    handshakes: [],
    messages: [],
    sockets: [],
    next: () => waiting.promise,
  };
  let waiting = withResolvers<WebSocket>();
  server.on("headers", (lines) =>
    lines.push(...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)),
  );
  server.on("connection", (socket, request) => {
    upstream.handshakes.push(request);
    upstream.sockets.push(socket);
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as SeenMessage;
      upstream.messages.push(message);
      onMessage(socket, message);
    });
    waiting.resolve(socket);
    waiting = withResolvers();
  });
  const port = await listenOnLoopback(http);
  upstream.baseUrl = `http://127.0.0.1:${port}/v1`;
  t.after(() => {
    for (const socket of server.clients) socket.terminate();
    http.closeAllConnections();
    http.close();
  });
  return upstream;
}

let responses = 0;

/** Sends an event, in the lane of a message. */
export function send(socket: WebSocket, { stream_id: lane }: SeenMessage, event: object): void {
  socket.send(JSON.stringify({ ...event, ...(lane !== undefined && { stream_id: lane }) }));
}

/** Sends the event that begins a response, and returns the response. */
export function begin(socket: WebSocket, message: SeenMessage): { id: string; model: string } {
  responses += 1;
  const response = {
    id: `resp_${responses}`,
    object: "response",
    model: message.model ?? "gpt-test",
    status: "in_progress",
  };
  send(socket, message, { type: "response.created", response });
  send(socket, message, { type: "response.in_progress", response });
  return response;
}

/** Sends the event that ends a response, with so many tokens. */
export function complete(
  socket: WebSocket,
  message: SeenMessage,
  response: { id: string },
  { input = 10, output = 5, type = "response.completed" } = {},
): void {
  const status = type.slice("response.".length);
  send(socket, message, {
    type,
    response: { ...response, status, output: [], usage: usageOf(input, output) },
  });
}

/** Sends a whole response. */
export function respond(
  socket: WebSocket,
  message: SeenMessage,
  tokens: { input?: number; output?: number } = {},
): void {
  const response = begin(socket, message);
  send(socket, message, { type: "response.output_text.delta", item_id: "msg_1", delta: "hello" });
  complete(socket, message, response, tokens);
}

/** An upstream whose handshakes the test handles. */
export interface UpgradeUpstream {
  baseUrl: string;
  /** The handshakes that it has got, oldest first. */
  handshakes: IncomingMessage[];
}

/** Starts an upstream that gives the connection of each handshake to the test. Ends with the test. */
export async function startUpgradeUpstream(
  t: TestContext,
  onUpgrade: (socket: Socket, request: IncomingMessage) => void,
): Promise<UpgradeUpstream> {
  const http = createServer((_req, res) => res.end("{}"));
  const handshakes: IncomingMessage[] = [];
  http.on("upgrade", (request, socket: Socket) => {
    handshakes.push(request);
    socket.on("error", () => {});
    // Node leaves the connections of an HTTP server half open.
    socket.on("end", () => socket.end());
    t.after(() => socket.destroy());
    onUpgrade(socket, request);
  });
  const port = await listenOnLoopback(http);
  t.after(() => void http.close());
  return { baseUrl: `http://127.0.0.1:${port}/v1`, handshakes };
}

/** Accepts a handshake, with these further lines in the head. */
export function acceptHandshake(
  socket: Socket,
  { headers }: IncomingMessage,
  lines: readonly string[] = [],
): void {
  const accept = createHash("sha1").update(
    `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
  );
  const head = [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${accept.digest("base64")}`,
    ...lines,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
}

/** Returns the usage of a response, without cached input and reasoning. */
export function usageOf(input: number, output: number): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

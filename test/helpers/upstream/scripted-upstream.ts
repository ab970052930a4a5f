import { EventEmitter } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { listenOnLoopback } from "./loopback-port.ts";

/** A request a scripted upstream received. */
export interface SeenRequest {
  method: string;
  url: string;
  rawHeaders: string[];
  headers: IncomingMessage["headers"];
  body: Buffer;
}

/** Responds to one request, whose body has been read. */
export type Script = (seen: SeenRequest, res: ServerResponse) => void;

/** A real HTTP server on loopback that keeps all requests and responds according to a script. */
export interface ScriptedUpstream {
  origin: string;
  baseUrl: string;
  seen: SeenRequest[];
  sockets: Set<Socket>;
  server: Server;
  /** Replaces the script for subsequent requests. */
  respondWith(script: Script): void;
}

/** Starts a scripted upstream that ends with the test. */
export async function startUpstream(t: TestContext, script: Script): Promise<ScriptedUpstream> {
  let current = script;
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("error", () => {});
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const { method = "", url = "", rawHeaders, headers } = req;
      const request = { method, url, rawHeaders, headers, body: Buffer.concat(chunks) };
      seen.push(request);
      current(request, res);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const port = await listenOnLoopback(server);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    baseUrl: `${origin}/v1`,
    seen,
    sockets,
    server,
    respondWith: (next) => (current = next),
  };
}

/** The headers of an event stream. */
export const SSE = { "content-type": "text/event-stream; charset=utf-8" };

/** Starts a scripted upstream that opens an event stream for each request and hands the first one to the test. */
export async function startHeldUpstream(
  t: TestContext,
): Promise<{ upstream: ScriptedUpstream; held: Promise<ServerResponse> }> {
  const responses = new EventEmitter<{ open: [ServerResponse] }>();
  const held = new Promise<ServerResponse>((resolve) => responses.once("open", resolve));
  const upstream = await startUpstream(t, (_seen, res) => {
    res.writeHead(200, SSE);
    responses.emit("open", res);
  });
  return { upstream, held };
}

/** Responds with a JSON body and its Content-Length. */
export function sendJson(res: ServerResponse, value: unknown, status = 200): void {
  const body = Buffer.from(JSON.stringify(value));
  res.writeHead(status, { "content-type": "application/json", "content-length": body.length }).end(body);
}

/** A small, complete Messages response. */
export const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-5",
  content: [{ type: "text", text: "hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 3, output_tokens: 2 },
};

/** Responds to every request with {@link MESSAGE}. */
export const respondWithMessage: Script = (_seen, res) => sendJson(res, MESSAGE);

/** Responds to every request with `{}`. */
export const respondWithEmptyJson: Script = (_seen, res) => sendJson(res, {});

/** The events of a small, complete Messages stream. */
export const MESSAGE_EVENTS = [
  `event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-sonnet-5","stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}\n\n`,
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n\n`,
  `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n`,
  `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
] as const;

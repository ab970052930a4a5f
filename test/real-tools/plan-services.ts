import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { WebSocketServer, type WebSocket } from "ws";
import { startConnectProxy, startRemoteUpstream } from "../helpers/upstream/connect-proxy.ts";
import { listenOnLoopback } from "../helpers/upstream/loopback-port.ts";

/** A request as a service receives it. */
export interface ServiceRequest {
  host: string;
  method: string;
  /** With the query. */
  url: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

/** A 429 in place of each response of a model. */
export interface ServiceLimit {
  body: object;
  /** Further headers. */
  headers: Record<string, string>;
}

/** How a test's services respond. */
export interface ServiceScript {
  /** Answers a request. */
  respond(seen: ServiceRequest, res: ServerResponse): void;
  /** Returns the whole response to a handshake that is refused; null for one that is accepted. */
  refuse(seen: ServiceRequest): string | null;
  /** Answers a message on a WebSocket. */
  message(socket: WebSocket, text: string): void;
}

/** How programs come to the services: a proxy, and the certificate to trust. */
interface Way {
  proxy: string;
  certificate: string;
  /** What came this way, oldest first. */
  seen: ServiceRequest[];
  /** The messages on WebSockets. */
  messages: string[];
}

/** Servers in place of the services of both plans. Whatever else is asked for is refused: nothing leaves this machine. */
export interface PlanServices {
  /** For the tool itself. */
  own: Way;
  /** For tollkeeper. */
  proxied: Way;
}

/** Those that the tools sign in to, and those at which they refresh. */
const HOSTS = ["api.anthropic.com", "platform.claude.com", "chatgpt.com", "auth.openai.com"];

/** Starts the services, which keep what they receive. They end with the test. */
export async function startPlanServices(t: TestContext, script: ServiceScript): Promise<PlanServices> {
  return { own: await openWay(t, script), proxied: await openWay(t, script) };
}

async function openWay(t: TestContext, script: ServiceScript): Promise<Way> {
  const seen: ServiceRequest[] = [];
  const messages: string[] = [];
  const keep = async (req: IncomingMessage, isUpgrade: boolean): Promise<ServiceRequest> => {
    const { method = "", url = "", headers } = req;
    const request = { host: headers.host ?? "", method, url, headers, body: Buffer.alloc(0) };
    seen.push(request);
    if (!isUpgrade) request.body = await buffer(req);
    return request;
  };
  const server = createServer((req, res) => void keep(req, false).then((one) => script.respond(one, res)));
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  sockets.on("connection", (socket) => {
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => {
      messages.push(data.toString());
      script.message(socket, data.toString());
    });
  });
  server.on("upgrade", (req, stream: Duplex, head: Buffer) => {
    stream.on("error", () => {});
    void keep(req, true).then((one) => {
      const refusal = script.refuse(one);
      if (refusal === null)
        sockets.handleUpgrade(req, stream, head, (socket) => sockets.emit("connection", socket, req));
      else stream.end(refusal);
    });
  });
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  const remote = await startRemoteUpstream(t, { origin }, HOSTS);
  const isService = (head: string) => HOSTS.some((host) => head.startsWith(`CONNECT ${host}:443 `));
  const { url } = await startConnectProxy(t, {
    to: remote.port,
    respondWith: (head) => (isService(head) ? null : "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"),
  });
  return { proxy: url, certificate: remote.certificate.file, seen, messages };
}

import { once } from "node:events";
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import type { TestContext } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { defaultConfig } from "../../../src/core/config/config.ts";
import type { Outbound } from "../../../src/core/config/outbound.ts";
import { makeCertificate, type Certificate } from "./certificate.ts";

/** The name by which upstreams behind a proxy go; nobody but the proxy can look it up. */
export const REMOTE_HOST = "api.far.invalid";

/** A real HTTP proxy that knows CONNECT, and nothing else. */
export interface ConnectProxy {
  /** As `outbound.httpsProxy` names it. */
  url: string;
  port: number;
  server: Server;
  /** The head of each request for a tunnel. */
  heads: string[];
  /** Everything that it was sent, within tunnels and before, latin1. */
  received(): string;
  /** Its end of each connection to it, open ones and others. */
  sockets: Socket[];
}

export interface ConnectProxyOptions {
  /** The one port of this machine that every tunnel leads to, whatever was asked for. */
  to: number;
  /** What comes in place of the tunnel, as bytes; null for a tunnel. */
  respondWith?: (head: string, socket: Socket) => string | null;
  /** Speaks TLS itself. */
  certificate?: Certificate;
}

/** Starts one that ends with the test. */
export async function startConnectProxy(
  t: TestContext,
  { to, respondWith = () => null, certificate }: ConnectProxyOptions,
): Promise<ConnectProxy> {
  const [heads, sockets, pieces] = [[] as string[], [] as Socket[], [] as Buffer[]];
  const serve = (client: Socket) => {
    sockets.push(client);
    client.on("error", () => {});
    client.on("data", (piece: Buffer) => pieces.push(piece));
    t.after(() => client.destroy());
    let head = "";
    client.on("data", function read(piece: Buffer) {
      head += piece.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      client.off("data", read);
      heads.push(head);
      const instead = respondWith(head, client);
      if (instead === null) connectTunnel(client, connect(to, "127.0.0.1"));
      else client.write(instead, "latin1");
    });
  };
  const server =
    certificate === undefined
      ? createTcpServer(serve)
      : createTlsServer({ key: certificate.key, cert: certificate.cert }, serve);
  server.listen(0, "127.0.0.1");
  t.after(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http${certificate === undefined ? "" : "s"}://127.0.0.1:${port}`;
  const received = () => Buffer.concat(pieces).toString("latin1");
  return { url, port, server, heads, received, sockets };
}

/** Answers and tunnel together, so that what the upstream says at once comes behind the head in one piece. */
function connectTunnel(client: Socket, upstream: Socket): void {
  upstream.on("connect", () => {
    client.write("HTTP/1.1 200 Connection established\r\nx-proxy: 1\r\n\r\n");
    client.pipe(upstream);
    upstream.pipe(client);
  });
  upstream.on("error", () => client.destroy());
  upstream.on("close", () => client.destroy());
  client.on("close", () => upstream.destroy());
}

/** An upstream that is reached by {@link REMOTE_HOST} alone, over TLS, and passes all on to the port of a plain one. */
export interface RemoteUpstream {
  baseUrl: string;
  origin: string;
  /** Where the proxy finds it. */
  port: number;
  certificate: Certificate;
  /** One entry for each handshake: was it a session from before that was taken up? */
  resumed: boolean[];
}

/** Puts TLS and another name in front of an upstream on this machine; ends with the test. */
export async function startRemoteUpstream(
  t: TestContext,
  { origin }: { origin: string },
): Promise<RemoteUpstream> {
  const certificate = makeCertificate(t, `DNS:${REMOTE_HOST}`);
  const resumed: boolean[] = [];
  const server = createTlsServer({ key: certificate.key, cert: certificate.cert }, (front) => {
    resumed.push(front.isSessionReused());
    const back = connect(Number(new URL(origin).port), "127.0.0.1");
    front.on("error", () => {});
    back.on("error", () => front.destroy());
    front.on("close", () => back.destroy());
    t.after(() => front.destroy());
    front.pipe(back);
    back.pipe(front);
  });
  server.listen(0, "127.0.0.1");
  t.after(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const far = `https://${REMOTE_HOST}:4711`;
  return { origin: far, baseUrl: `${far}/v1`, port, certificate, resumed };
}

/** The resolved configuration of a way through this proxy, which believes this upstream. */
export function outboundThrough({ url }: { url: string }, { certificate }: RemoteUpstream): Outbound {
  return {
    ...defaultConfig.outbound,
    proxy: { origin: url, credentials: null },
    authorities: [certificate.cert.toString()],
  };
}

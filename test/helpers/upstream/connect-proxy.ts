import { connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { defaultConfig } from "../../../src/core/config/config.ts";
import type { Outbound } from "../../../src/core/config/outbound.ts";
import { makeCertificate, type Certificate } from "./certificate.ts";
import { listenOnLoopback } from "./loopback-port.ts";

/** The host name of upstreams behind a proxy. It does not resolve; only the proxy knows where to connect. */
export const REMOTE_HOST = "api.far.invalid";

/** A real HTTP proxy that supports CONNECT only. */
export interface ConnectProxy {
  /** As configured in `outbound.httpsProxy`. */
  url: string;
  port: number;
  server: Server;
  /** The head of each CONNECT request. */
  heads: string[];
  /** Everything the proxy received, inside and outside tunnels, as latin1. */
  received(): string;
  /** The proxy's socket of each connection ever accepted. */
  sockets: Socket[];
}

export interface ConnectProxyOptions {
  /** The local port every tunnel leads to, regardless of the requested target. */
  to: number;
  /** Returns bytes to send instead of opening a tunnel; null opens the tunnel. */
  respondWith?: (head: string, socket: Socket) => string | null;
  /** Makes it an https proxy. */
  certificate?: Certificate;
}

/** Starts a proxy that ends with the test. */
export async function startConnectProxy(
  t: TestContext,
  { to, respondWith = () => null, certificate }: ConnectProxyOptions,
): Promise<ConnectProxy> {
  const [heads, sockets, chunks] = [[] as string[], [] as Socket[], [] as Buffer[]];
  const serve = (client: Socket) => {
    sockets.push(client);
    client.on("error", () => {});
    client.on("data", (chunk: Buffer) => chunks.push(chunk));
    t.after(() => client.destroy());
    let head = "";
    client.on("data", function read(chunk: Buffer) {
      head += chunk.toString("latin1");
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
  const port = await listenOnLoopback(server);
  t.after(() => void server.close());
  const url = `http${certificate === undefined ? "" : "s"}://127.0.0.1:${port}`;
  const received = () => Buffer.concat(chunks).toString("latin1");
  return { url, port, server, heads, received, sockets };
}

/** Sends the response head only when the tunnel is open, so that the upstream's first bytes arrive together with it. */
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

/** A TLS upstream named {@link REMOTE_HOST}, which forwards all bytes to a plain upstream on this machine. */
export interface RemoteUpstream {
  baseUrl: string;
  origin: string;
  /** The local port the proxy connects to. */
  port: number;
  certificate: Certificate;
  /** One entry for each handshake: true when it resumed an earlier session. */
  resumed: boolean[];
}

/**
 * Starts a remote upstream in front of an upstream on this machine. Ends with the test.
 * @param hosts the names that its certificate is for
 */
export async function startRemoteUpstream(
  t: TestContext,
  { origin }: { origin: string },
  hosts: readonly string[] = [REMOTE_HOST],
): Promise<RemoteUpstream> {
  const certificate = makeCertificate(t, hosts.map((host) => `DNS:${host}`).join());
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
  const port = await listenOnLoopback(server);
  t.after(() => void server.close());
  const remoteOrigin = `https://${REMOTE_HOST}:4711`;
  return { origin: remoteOrigin, baseUrl: `${remoteOrigin}/v1`, port, certificate, resumed };
}

/** Returns the resolved `outbound` configuration that uses this proxy and trusts this upstream's certificate. */
export function outboundThrough({ url }: { url: string }, { certificate }: RemoteUpstream): Outbound {
  return {
    ...defaultConfig.outbound,
    proxy: { origin: url, credentials: null },
    authorities: [certificate.cert.toString()],
  };
}

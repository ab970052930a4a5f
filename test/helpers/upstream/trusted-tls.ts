import { syncBuiltinESMExports } from "node:module";
import { createServer, type Server } from "node:https";
import type { TestContext } from "node:test";
import tls, { type TLSSocket, type TlsOptions } from "node:tls";
import { makeCertificate, type Certificate } from "./certificate.ts";
import { listenOnLoopback } from "./loopback-port.ts";

/** An https upstream that this process trusts. */
export interface TrustedUpstream {
  origin: string;
  baseUrl: string;
  server: Server;
  /** One entry for each handshake: true when it resumed an earlier session. */
  resumed: boolean[];
  /** The number of requests, all of which got `{}` as the response. */
  requests: number;
}

/** Starts an upstream that ends with the test. Only secure contexts created after that trust it. */
export async function startTrustedUpstream(
  t: TestContext,
  options: TlsOptions = {},
): Promise<TrustedUpstream> {
  const certificate = makeCertificate(t, "IP:127.0.0.1");
  trustCertificate(t, certificate);
  const { key, cert } = certificate;
  const server = createServer({ key, cert, ...options }, (req, res) => {
    upstream.requests += 1;
    req.resume().on("end", () => res.setHeader("content-length", 2).end("{}"));
  });
  server.on("secureConnection", (socket: TLSSocket) => upstream.resumed.push(socket.isSessionReused()));
  const port = await listenOnLoopback(server);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `https://127.0.0.1:${port}`;
  const upstream: TrustedUpstream = { origin, baseUrl: `${origin}/v1`, server, resumed: [], requests: 0 };
  return upstream;
}

/** Makes new secure contexts without a `ca` trust this certificate, as NODE_EXTRA_CA_CERTS would for a whole process. */
function trustCertificate(t: TestContext, { cert }: Certificate): void {
  const { createSecureContext } = tls;
  const mocked = t.mock.method(tls, "createSecureContext", (options: tls.SecureContextOptions = {}) =>
    createSecureContext({ ca: cert, ...options }),
  );
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
}

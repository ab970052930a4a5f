import { createServer, request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { GENERAL_PROFILE } from "../../src/sandbox/profiles.ts";
import { TEST_KEY } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { startConnectProxy, startRemoteUpstream } from "../helpers/upstream/connect-proxy.ts";
import { listenOnLoopback } from "../helpers/upstream/loopback-port.ts";
import { openSandbox } from "../sandbox/sandbox-client.ts";

/** A request as a vendor's service receives it. */
export interface VendorRequest {
  method: string;
  /** With the query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Servers in place of api.anthropic.com and api.openai.com, which keep what they receive; the sandbox responds for them. */
export interface Vendors {
  /** Requests for the API, oldest first. */
  requests: VendorRequest[];
  /** Where they are reached without TLS, without `/v1`. */
  origin: string;
  /** For a tool that asks its vendor's own host: it finds a proxy that points to this server, and trusts the certificate. */
  env: Record<string, string>;
  /** Makes a daemon take both for the real services. */
  config: object;
}

/** The vendors have them, but the sandbox has not. */
const NEWEST_MODELS = ["claude-opus-5-5", "claude-haiku-5-5", "gpt-6.2-sol"];

const HOSTS = ["api.anthropic.com", "api.openai.com"];

/** Starts both. They end with the test. No request leaves this machine: the proxy refuses every other host. */
export async function startVendors(t: TestContext): Promise<Vendors> {
  const sandbox = await openSandbox(t, {
    keys: [{ name: "default", secret: TEST_KEY, group: "all" }],
    groups: { all: [...(GENERAL_PROFILE.groups["all"] ?? []), ...NEWEST_MODELS] },
  });
  const requests: VendorRequest[] = [];
  const server = createServer((req, res) => {
    const { method = "", url = "", headers } = req;
    const chunks: Buffer[] = [];
    req.on("error", () => {});
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const body = Buffer.concat(chunks);
      if (!url.startsWith("/v1/")) {
        res.writeHead(404).end();
        return;
      }
      requests.push({ method, url, headers, body });
      const forwarded = request(new URL(url, sandbox.baseUrl), {
        method,
        headers: withSandboxKey(url, headers),
      });
      forwarded.on("response", (response) => {
        res.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(res);
      });
      forwarded.on("error", () => res.destroy());
      res.on("close", () => forwarded.destroy());
      forwarded.end(body);
    });
  });
  // The same body goes by POST then, which can be compared.
  server.on("upgrade", ({ method = "", url = "", headers }, socket: Socket) => {
    requests.push({ method, url, headers, body: Buffer.alloc(0) });
    socket.on("error", () => {});
    socket.end("HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  });
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const remote = await startRemoteUpstream(t, { origin }, HOSTS);
  const isVendor = (head: string) => HOSTS.some((host) => head.startsWith(`CONNECT ${host}:443 `));
  const proxy = await startConnectProxy(t, {
    to: remote.port,
    respondWith: (head) => (isVendor(head) ? null : "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"),
  });
  const { file } = remote.certificate;
  const trust = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CODEX_CA_CERTIFICATE"];
  return {
    requests,
    origin,
    env: {
      ...Object.fromEntries(["HTTPS_PROXY", "https_proxy"].map((name) => [name, proxy.url])),
      ...Object.fromEntries(trust.map((name) => [name, file])),
    },
    config: {
      upstreams: {
        anthropic: upstreamAt(t, "https://api.anthropic.com/v1", { apis: ["messages"] }),
        openai: upstreamAt(t, "https://api.openai.com/v1", {
          apis: ["responses", "chat"],
          websocket: "auto",
        }),
      },
      outbound: { httpsProxy: proxy.url, caFile: file },
    },
  };
}

function withSandboxKey(url: string, headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const { authorization: _bearer, "x-api-key": _key, ...rest } = headers;
  const isMessages = url.startsWith("/v1/messages");
  return { ...rest, ...(isMessages ? { "x-api-key": TEST_KEY } : { authorization: `Bearer ${TEST_KEY}` }) };
}

function upstreamAt(t: TestContext, baseUrl: string, more: object): object {
  return { ...writeKeyFile(t, baseUrl, TEST_KEY).config.upstreams.default, ...more };
}

import * as http from "node:http";
import * as https from "node:https";
import type { IncomingMessage, RequestOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ProxyServer } from "http-proxy-3";
import { Passage, type PassageOrder } from "./passage.ts";
import { Passages } from "./passages.ts";

/**
 * Idle pooled connections are dropped this early, well before upstreams and their load balancers do (60 s and more):
 * a request sent into a closing connection is lost, and a POST must not be sent twice. A shorter limit that the
 * upstream announces (`Keep-Alive: timeout=`) is obeyed by Node's agent.
 */
const IDLE_SOCKET_MS = 20_000;

/** A passage's order as the gate gives it; how to reach the upstream is this file's business. */
export type ForwardOrder = Omit<PassageOrder, "open" | "secure"> & {
  /** Origin of the upstream. */
  origin: string;
};

/** Sends requests to upstreams over pooled connections. The only file that knows http-proxy-3. */
export interface Forwarder {
  forward(req: IncomingMessage, res: ServerResponse, order: ForwardOrder): void;
  /** Passages under way. */
  readonly open: number;
  /** Ends every passage and every pooled connection. */
  close(): void;
}

/**
 * http-proxy-3 with its `stream` pass replaced: the stock pass cannot give an upstream time to say its final usage after
 * the client has left, hangs when an upstream dies in mid-answer, and rewrites paths (STYLE section 7, traps 1, 4 and 5;
 * facts/performance.md). The credential is in the passage's headers alone, never in the library's options, which it
 * prints under DEBUG (trap 6).
 */
export function createForwarder(): Forwarder {
  const library = new ProxyServer({});
  /** Of the request at hand: the library calls the pass before `web` returns. */
  let order: PassageOrder | null = null;
  const passages = new Passages();
  const upstreams = new Map<string, Upstream>();

  library.before("web", "stream", (req, res) => {
    if (order === null) throw new Error("a request without an order");
    const passage = new Passage(req, res, order, () => passages.remove(passage));
    passages.add(passage);
    return true;
  });
  // Without a listener of ours the library would throw, and end the process (trap 8).
  library.on("error", (_error, _req, res) => res.destroy());

  function upstreamAt(origin: string): Upstream {
    let upstream = upstreams.get(origin);
    if (upstream === undefined) {
      upstream = openUpstream(origin);
      upstreams.set(origin, upstream);
    }
    return upstream;
  }

  return {
    forward(req, res, forwardOrder) {
      const { open, secure, target } = upstreamAt(forwardOrder.origin);
      order = { ...forwardOrder, open, secure };
      library.web(req, res, { target });
      order = null;
    },
    get open() {
      return passages.size;
    },
    close() {
      passages.abort();
      for (const upstream of upstreams.values()) upstream.agent.destroy();
      upstreams.clear();
    },
  };
}

/** Whatever node was told: --insecure-http-parser would let an upstream say two things at once (facts/threats.md C6). */
const STRICT = { insecureHTTPParser: false };

interface Upstream extends Pick<PassageOrder, "open" | "secure"> {
  agent: http.Agent;
  /** For the library, which would parse an origin again with each request. */
  target: { protocol: string; host: string; port: number };
}

/** One pool of connections per origin. Certificates are always verified, whatever the environment says (threats B5). */
function openUpstream(origin: string): Upstream {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const target = { protocol, host, port: Number(port) };
  const pool = { keepAlive: true, scheduling: "lifo", timeout: IDLE_SOCKET_MS } as const;
  if (protocol === "https:") {
    const agent = new https.Agent({ ...pool, rejectUnauthorized: true });
    const address = { host, port: port === "" ? 443 : Number(port), agent };
    const open = (options: RequestOptions) => https.request({ ...options, ...address, ...STRICT });
    return { agent, target, secure: true, open: onQuietSockets(agent, open) };
  }
  const agent = new http.Agent(pool);
  const address = { host, port: port === "" ? 80 : Number(port), agent };
  const open = (options: RequestOptions) => http.request({ ...options, ...address, ...STRICT });
  return { agent, target, secure: false, open: onQuietSockets(agent, open) };
}

/**
 * What comes on an idle connection was not asked for: the next client must not get it, nor what may follow, so the
 * connection is given up (facts/threats.md C7). Node would throw the bytes away and use the connection again.
 */
function onQuietSockets(agent: http.Agent, open: Upstream["open"]): Upstream["open"] {
  agent.on("free", (socket: Socket) => socket.on("data", giveUp));
  return (options) => {
    const request = open(options);
    request.once("socket", (socket) => socket.off("data", giveUp));
    return request;
  };
}

function giveUp(this: Socket): void {
  this.destroy();
}

import { ProxyServer, type ServerOptions } from "http-proxy-3";
import { composeRequestHead } from "../../core/http/request-head.ts";
import { isSameOutbound, type Outbound } from "../../core/config/outbound.ts";
import type { Clock } from "../../ports.ts";
import { createDialer, type Dial } from "../upstream/dial.ts";
import { PlainServer } from "../upstream/plain-server.ts";
import { UpstreamPool } from "../upstream/pool.ts";
import type { RequestEvents, UpstreamRequest } from "../upstream/upstream-request.ts";
import type { Exchange } from "./exchange.ts";
import { RoundTrip, type Outgoing, type RoundTripServices, type UpstreamTransport } from "./round-trip.ts";

/** The option of the library's `web` by which our pass gets its request: what to do, of which a debug output shows no more than that. */
const START = Symbol("start");
interface StartOption {
  [START](): void;
}

/** Sends requests to upstreams over pooled connections. The only file that knows http-proxy-3. */
export interface Forwarder {
  /** Starts a round trip to the upstream that the exchange has chosen. */
  forward(exchange: Exchange, outgoing: Outgoing, services: RoundTripServices): RoundTrip;
  /** Asks an upstream to go on as a WebSocket, on a connection like that of any request. */
  openWebSocket(origin: string, path: string, headers: string[], events: RequestEvents): UpstreamRequest;
  /** Does in advance what the first request to an origin would wait for, except for connecting. For TLS that takes 9 ms. */
  prepare(origin: string): void;
  /**
   * Opens a connection ahead of a request that may follow soon, so that the handshakes run while the client is still sending
   * and being identified. Does nothing for a plain http origin: it is on this machine.
   */
  preconnect(origin: string): void;
  /** Uses this outbound configuration for new connections. Requests that are under way keep theirs. */
  setOutbound(outbound: Outbound): void;
  /** Closes every pooled connection. */
  close(): void;
}

/**
 * Creates a forwarder on http-proxy-3 with its `stream` pass replaced. The original pass gives an upstream no time to report
 * its usage after the client has disconnected, hangs when an upstream closes the connection within a response, and rewrites paths
 * (docs/performance.md section 4, traps 1, 4 and 5). The credential is only in the headers of the round trip, never in the
 * library's options, which it prints under DEBUG (trap 6).
 */
export function createForwarder(clock: Clock, initial: Outbound): Forwarder {
  const library = new ProxyServer({});
  let outbound = initial;
  let dialTo = createDialer(initial);
  /** By origin, all reached by the outbound configuration in force. */
  const upstreams = new Map<string, Upstream>();
  let isClosed = false;

  library.before("web", "stream", (_req, _res, options: ServerOptions & Partial<StartOption>) => {
    options[START]?.();
    return true;
  });
  // Without a listener the library throws, which would crash the process (trap 8).
  library.on("error", (_error, _req, res) => res.destroy());

  function upstreamAt(origin: string): Upstream {
    let upstream = upstreams.get(origin);
    if (upstream === undefined) {
      upstream = openUpstream(origin, dialTo(origin), clock);
      upstreams.set(origin, upstream);
    }
    return upstream;
  }

  return {
    forward(exchange, outgoing, services) {
      const transport = upstreamAt(exchange.choice.upstream.origin);
      const { req, res } = exchange.request;
      let roundTrip: RoundTrip | null = null;
      const start = () => (roundTrip = new RoundTrip(exchange, outgoing, services, transport));
      // The library calls the pass before `web` returns.
      const options: ServerOptions & StartOption = { target: transport.target, [START]: start };
      library.web(req, res, options);
      if (roundTrip === null) throw new Error("the library did not run our pass");
      return roundTrip;
    },
    openWebSocket(origin, path, headers, events) {
      return upstreamAt(origin).pool.open(composeRequestHead("GET", path, headers, "websocket"), events);
    },
    prepare(origin) {
      upstreamAt(origin);
      // The first reading of this clock makes Node load its implementation: 2 ms.
      clock.monotonic();
    },
    preconnect(origin) {
      const { pool, isSecure } = upstreamAt(origin);
      if (isSecure && !isClosed) pool.preconnect();
    },
    setOutbound(another) {
      if (isSameOutbound(another, outbound)) return;
      outbound = another;
      dialTo = createDialer(another);
      for (const { pool } of upstreams.values()) pool.retire();
      upstreams.clear();
    },
    close() {
      isClosed = true;
      for (const { pool } of upstreams.values()) pool.destroy();
      upstreams.clear();
    },
  };
}

interface Upstream extends UpstreamTransport {
  pool: UpstreamPool;
  isSecure: boolean;
  /** Parsed once: given a string, the library would parse it for each request (1 µs). */
  target: URL;
}

function openUpstream(origin: string, dial: Dial, clock: Clock): Upstream {
  const pool = new UpstreamPool(dial, clock);
  const { isProxied, readyEvent } = dial;
  return {
    pool,
    target: new URL(origin),
    isSecure: readyEvent === "secureConnect",
    isProxied,
    plain: readyEvent === "secureConnect" ? null : new PlainServer(origin),
    open: (method, path, headers, events) => pool.open(composeRequestHead(method, path, headers), events),
  };
}

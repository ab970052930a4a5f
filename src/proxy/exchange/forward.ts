import { request, type IncomingMessage, type ServerResponse } from "node:http";
import { ProxyServer } from "http-proxy-3";
import { isSameOutbound, type Outbound } from "../../core/config/outbound.ts";
import type { Clock } from "../../ports.ts";
import { RoundTrip, type RoundTripOptions, type UpstreamTransport } from "./round-trip.ts";
import { RoundTrips } from "./round-trips.ts";
import { createDialer, type Dial } from "../upstream/dial.ts";
import { UpstreamPool } from "../upstream/pool.ts";

/** A passage's order, and where it goes. How to get there is this file's business. */
export interface ForwardOrder extends RoundTripOptions {
  /** Origin of the upstream. */
  origin: string;
}

/** Sends requests to upstreams over pooled connections. The only file that knows http-proxy-3. */
export interface Forwarder {
  forward(req: IncomingMessage, res: ServerResponse, order: ForwardOrder): void;
  /** Does now what the first request to an origin would have to wait for, short of connecting: 9 ms for TLS. */
  prepare(origin: string): void;
  /**
   * A request to this origin may come soon: has a connection opened ahead of it, so that its handshakes run while the
   * client is still sending and being asked about. Not for plain ones, whose upstreams are on this machine.
   */
  preconnect(origin: string): void;
  /** Reaches upstreams this way from now on; what is under way ends on the connection that it has. */
  setOutbound(outbound: Outbound): void;
  /** Passages under way. */
  readonly open: number;
  /** Resolves when no passage is under way. */
  ended(): Promise<void>;
  /** Ends every passage and every pooled connection. */
  close(): void;
}

/**
 * http-proxy-3 with its `stream` pass replaced: the stock pass cannot give an upstream time to say its final usage after
 * the client has left, hangs when an upstream dies in mid-answer, and rewrites paths (STYLE section 7, traps 1, 4 and 5;
 * facts/performance.md). The credential is in the passage's headers alone, never in the library's options, which it
 * prints under DEBUG (trap 6).
 */
export function createForwarder(clock: Clock, initial: Outbound): Forwarder {
  const library = new ProxyServer({});
  /**
   * What the request at hand is about, for the pass to take: the library calls that before `web` returns. Not a WeakMap of requests, which
   * would hold each of them, its value being a way to its key, until the next full collection: 30 µs.
   */
  let next: { order: RoundTripOptions; way: UpstreamTransport } | null = null;
  const passages = new RoundTrips();
  let outbound = initial;
  let dialTo = createDialer(initial);
  /** By origin, all of them reached as `outbound` says. */
  const upstreams = new Map<string, Upstream>();
  let isClosed = false;

  library.before("web", "stream", (req, res) => {
    if (next === null) throw new Error("a request without an order");
    const { order, way } = next;
    next = null;
    const passage = new RoundTrip(req, res, order, way, () => passages.remove(passage));
    passages.add(passage);
    return true;
  });
  // Without a listener of ours the library would throw, and end the process (trap 8).
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
    forward(req, res, order) {
      const way = upstreamAt(order.origin);
      next = { order, way };
      library.web(req, res, { target: way.target });
    },
    prepare(origin) {
      upstreamAt(origin);
      // Node loads what it reads this clock with at the first look: 2 ms.
      clock.monotonic();
    },
    preconnect(origin) {
      const { pool, secure } = upstreamAt(origin);
      if (secure && !isClosed) pool.preconnect();
    },
    setOutbound(another) {
      if (isSameOutbound(another, outbound)) return;
      outbound = another;
      dialTo = createDialer(another);
      for (const { pool } of upstreams.values()) pool.retire();
      upstreams.clear();
    },
    get open() {
      return passages.size;
    },
    ended: () => passages.ended(),
    close() {
      isClosed = true;
      passages.abort();
      for (const { pool } of upstreams.values()) pool.destroy();
      upstreams.clear();
    },
  };
}

/** Whatever node was told: --insecure-http-parser would let an upstream say two things at once (facts/threats.md C6). */
const STRICT = { insecureHTTPParser: false };

interface Upstream extends UpstreamTransport {
  pool: UpstreamPool;
  /** Of text the library would make a URL for each request: 1 µs. */
  target: URL;
}

function openUpstream(origin: string, dial: Dial, clock: Clock): Upstream {
  const pool = new UpstreamPool(dial, clock);
  // Over TLS too it is HTTP to Node: that the pool's connections are secure is the dial's business.
  const open = (method: string, path: string, headers: string[]) =>
    request({ method, path, headers, setHost: false, agent: pool, ...STRICT });
  const { isProxied, readyEvent } = dial;
  return { pool, target: new URL(origin), secure: readyEvent === "secureConnect", isProxied, open };
}

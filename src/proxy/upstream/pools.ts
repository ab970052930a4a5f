import { createHmac, randomBytes } from "node:crypto";
import type { Choice } from "../../core/decide/choose-upstream.ts";
import type { HeaderIndex } from "../../core/http/header-index.ts";
import { isSameOutbound, type Outbound } from "../../core/config/outbound.ts";
import { composeRequestHead } from "../../core/http/request-head.ts";
import type { Clock } from "../../ports.ts";
import { createDialer, type Dial } from "./dial.ts";
import { PlainServer } from "./plain-server.ts";
import { UpstreamPool } from "./pool.ts";
import type { RequestEvents, UpstreamRequest } from "./upstream-request.ts";

/** How many logins have connections at a time. */
const MOST_LOGINS = 8;

/** What tells a login, or the key of a tool's own, from others. */
const LOGIN_HEADERS = ["authorization", "chatgpt-account-id", "x-api-key", "api-key", "x-goog-api-key"];

/** The pools of connections, one for each origin. */
export class UpstreamPools {
  readonly #clock: Clock;
  /** All reached by the outbound configuration in force. */
  readonly #byOrigin = new Map<string, PooledUpstream>();
  readonly #byLogin = new Map<string, PooledUpstream>();
  readonly #salt = randomBytes(32);
  #outbound: Outbound;
  #dialTo: (origin: string) => Dial;
  #isClosed = false;

  constructor(clock: Clock, outbound: Outbound) {
    this.#clock = clock;
    this.#outbound = outbound;
    this.#dialTo = createDialer(outbound);
  }

  at(origin: string): PooledUpstream {
    let upstream = this.#byOrigin.get(origin);
    if (upstream === undefined) {
      upstream = new PooledUpstream(origin, this.#dialTo(origin), this.#clock);
      this.#byOrigin.set(origin, upstream);
    }
    return upstream;
  }

  /** Returns the upstream of a request with these headers. */
  of({ account, upstream }: Choice, headers: HeaderIndex): PooledUpstream {
    return account === "key" ? this.at(upstream.origin) : this.#forLogin(upstream.origin, headers);
  }

  /**
   * Returns the upstream for requests with the login, or the key of a tool's own, that these headers carry. Connections are not shared
   * between them. Of neither more is kept than a hash with a salt of this process.
   */
  #forLogin(origin: string, headers: HeaderIndex): PooledUpstream {
    const login = LOGIN_HEADERS.map((name) => headers.get(name)).join("\n");
    const name = `${origin} ${createHmac("sha256", this.#salt).update(login).digest("hex")}`;
    let upstream = this.#byLogin.get(name);
    if (upstream === undefined) {
      upstream = new PooledUpstream(origin, this.#dialTo(origin), this.#clock);
      // A tool gets another token every few hours.
      const [oldest] = this.#byLogin.keys();
      if (this.#byLogin.size >= MOST_LOGINS && oldest !== undefined) {
        this.#byLogin.get(oldest)?.pool.retire();
        this.#byLogin.delete(oldest);
      }
      this.#byLogin.set(name, upstream);
    }
    return upstream;
  }

  /** Does in advance what the first request to an origin would wait for, except for connecting. For TLS that takes 9 ms. */
  prepare(origin: string): void {
    this.at(origin);
    // The first reading of this clock makes Node load its implementation: 2 ms.
    this.#clock.monotonic();
  }

  /**
   * Opens a connection ahead of a request that may follow soon, so that the handshakes run while the client is still sending
   * and being identified. Does nothing for a plain http origin: it is on this machine.
   */
  preconnect(origin: string): void {
    const { plain, pool } = this.at(origin);
    if (plain === null && !this.#isClosed) pool.preconnect();
  }

  /** Uses this outbound configuration for new connections. Requests that are under way keep theirs. */
  setOutbound(outbound: Outbound): void {
    if (isSameOutbound(outbound, this.#outbound)) return;
    this.#outbound = outbound;
    this.#dialTo = createDialer(outbound);
    for (const { pool } of this.#all()) pool.retire();
    this.#byOrigin.clear();
    this.#byLogin.clear();
  }

  /** Closes every pooled connection. */
  close(): void {
    this.#isClosed = true;
    for (const { pool } of this.#all()) pool.destroy();
    this.#byOrigin.clear();
    this.#byLogin.clear();
  }

  #all(): PooledUpstream[] {
    return [...this.#byOrigin.values(), ...this.#byLogin.values()];
  }
}

/** How an upstream is reached. */
export class PooledUpstream {
  readonly pool: UpstreamPool;
  /** Parsed once: http-proxy-3 would parse a string for each request (1 µs). */
  readonly target: URL;
  /** True when connections go through the configured proxy. */
  readonly isProxied: boolean;
  /** The server of a plain http origin; null for https. */
  readonly plain: PlainServer | null;

  constructor(origin: string, dial: Dial, clock: Clock) {
    this.pool = new UpstreamPool(dial, clock);
    this.target = new URL(origin);
    this.isProxied = dial.isProxied;
    this.plain = dial.readyEvent === "secureConnect" ? null : new PlainServer(origin);
  }

  /** Opens a request on one of the upstream's connections. `headers` is a flat list, and complete. */
  open(method: string, path: string, headers: string[], events: RequestEvents): UpstreamRequest {
    return this.pool.open(composeRequestHead(method, path, headers), events);
  }

  /** Asks the upstream to go on as a WebSocket, on a connection like that of any request. */
  openWebSocket(path: string, headers: string[], events: RequestEvents): UpstreamRequest {
    return this.pool.open(composeRequestHead("GET", path, headers, "websocket"), events);
  }
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { admit } from "../core/http/admission.ts";
import { KeyFailure } from "../core/failure.ts";
import { HeaderIndex } from "../core/http/header-index.ts";
import { buildUpstreamHeaders } from "../core/http/headers.ts";
import type { KeyRef } from "../core/secrets/key-source.ts";
import { refusalStatus, Refused, type Refusal } from "../core/http/refusal.ts";
import { apiOfPath } from "../core/http/routes.ts";
import type { Secret } from "../core/secrets/secret.ts";
import type { Clock, Ledger, Log } from "../ports.ts";
import type { Peer } from "./request-identity.ts";
import { Connections, maxConnections } from "./client/connections.ts";
import { Exchange } from "./exchange/exchange.ts";
import { findRoute, type Routed } from "./resolve.ts";
import { createForwarder, type Forwarder } from "./exchange/forward.ts";
import { noKey, OTHER_USER, PIPELINED } from "./refusals.ts";
import type { Keyring } from "./keyring.ts";
import { tooLarge } from "./exchange/limit-refusals.ts";
import type { ConnectionHandler } from "./client/listener.ts";
import type { PeerGuard } from "./client/peer-guard.ts";
import { refuse } from "./refuse.ts";
import type { Settings } from "./settings.ts";
import { noToken, type TokenRegistry } from "./token-registry.ts";

/** What the gate works with; made by the composition root. */
export interface GateParts {
  settings: Settings;
  keyring: Keyring;
  ledger: Ledger;
  peers: PeerGuard;
  tokens: TokenRegistry;
  clock: Clock;
  log: Log;
  /** How many files and sockets the process may have open. */
  descriptorLimit: number;
}

/** Where requests come in. {@link Gate.handle} is one request, to be read from top to bottom. */
export class Gate implements ConnectionHandler {
  readonly #keyring: Keyring;
  readonly #ledger: Ledger;
  readonly #peers: PeerGuard;
  readonly #tokens: TokenRegistry;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #forwarder: Forwarder;
  readonly #connections: Connections;
  #settings: Settings;
  #draining = false;

  constructor(parts: GateParts) {
    this.#settings = parts.settings;
    this.#keyring = parts.keyring;
    this.#ledger = parts.ledger;
    this.#peers = parts.peers;
    this.#peers.setAllowedUids(parts.settings.config.access.peerUid);
    this.#tokens = parts.tokens;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#forwarder = createForwarder(parts.clock, parts.settings.config.outbound);
    this.#connections = new Connections(maxConnections(parts.descriptorLimit));
  }

  /** A client has connected; its first request may never come. */
  accept(socket: Socket): void {
    this.#connections.open(socket);
    this.#peers.inspect(socket, this.#settings.config.ledger.project);
    if (this.#draining) this.release(socket);
    else this.#forwarder.preconnect(this.#usualOrigin);
  }

  /** A connection is to end, with the answer that is under way on it. */
  release(socket: Socket): void {
    void this.#connections.release(socket);
  }

  /**
   * One request: admit, prove, route, identify, key, headers, forward; the passage then meters and records (DESIGN section 4).
   * `expectsContinue`: the client waits for `100 Continue` before it sends its body. Never rejects.
   */
  async handle(req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): Promise<void> {
    const settings = this.#settings;
    let exchange: Exchange | null = null;
    try {
      const headers = new HeaderIndex(req.rawHeaders);
      const peer = this.#admit(req, res, headers, settings);
      const owner = this.#tokens.ownerOf(headers);
      const lacksToken = owner === null && settings.config.access.mode === "token";
      const routed = findRoute(req, headers, { peer, owner, lacksToken }, settings);
      if (routed === null) {
        res.writeHead(200, ["content-length", "0"]).end();
        return;
      }
      exchange = this.#openExchange(routed, headers);
      if (lacksToken) throw new Refused(noToken(routed.caller.identity));
      const announcedBytes = judgeLength(headers, settings);
      const { key } = routed.caller;
      const cached = this.#keyring.cached(key);
      const secret = cached ?? (await this.#readKey(key));
      // Looked for again after the last wait: from here on the passage hears of it.
      if ((cached === null && (await this.#peers.hasLeft(req.socket))) || req.socket.destroyed) {
        exchange.recordUnanswered("cut", null, "client");
        return;
      }
      if (expectsContinue) res.writeContinue();
      this.#forward(req, res, { routed, exchange, headers, secret, settings, announcedBytes });
    } catch (error) {
      this.#refuse(req, res, exchange, this.#refusalOf(error));
    }
  }

  /** Takes effect for the next request, and the next connection; running ones keep what they began with. */
  use(settings: Settings): void {
    this.#settings = settings;
    this.#peers.setAllowedUids(settings.config.access.peerUid);
    this.#forwarder.setOutbound(settings.config.outbound);
  }

  /** To be called when nobody waits: takes what it can off the first request. */
  prepare(): void {
    this.#forwarder.prepare(this.#usualOrigin);
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Exchanges under way with an upstream. */
  get openExchanges(): number {
    return this.#forwarder.open;
  }

  /**
   * From now on every connection ends with the answer that is under way on it; resolves with the last of them, and of the
   * exchanges whose client has left, which may still learn their usage.
   */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#connections.drain();
    await this.#forwarder.ended();
  }

  /** Ends whatever is still under way; each exchange leaves its record. */
  close(): void {
    this.#forwarder.close();
    this.#connections.destroy();
  }

  /** Where requests go, but for those of tools that the configuration sends elsewhere. */
  get #usualOrigin(): string {
    return this.#settings.upstreamFor("").upstream.origin;
  }

  #admit(req: IncomingMessage, res: ServerResponse, headers: HeaderIndex, settings: Settings): Peer {
    const { socket, method = "", httpVersion } = req;
    const localPort = socket.localPort ?? 0;
    // Before any verdict: a request that is refused occupies its connection like any other, until it is answered.
    const isOccupied = !this.#connections.occupy(socket, res);
    orRefuse(admit({ method, httpVersion, headers, localPort }, settings.rules));
    if (isOccupied) throw new Refused(PIPELINED);
    const peer = this.#peers.admitted(socket);
    if (peer === null) throw new Refused(OTHER_USER);
    return peer;
  }

  #openExchange({ caller, match }: Routed, headers: HeaderIndex): Exchange {
    const head = {
      caller,
      userAgent: headers.get("user-agent") ?? null,
      route: match.route,
      contentEncoding: headers.get("content-encoding") ?? null,
    };
    return new Exchange(head, this.#ledger, this.#clock);
  }

  async #readKey(ref: KeyRef): Promise<Secret> {
    try {
      return await this.#keyring.get(ref);
    } catch (error) {
      if (!(error instanceof KeyFailure)) throw error;
      this.#log.warn({ key: ref.name, origin: ref.origin, hint: error.hint }, error.message);
      throw new Refused(noKey(error));
    }
  }

  #forward(req: IncomingMessage, res: ServerResponse, onward: Onward): void {
    const { routed, exchange, headers, secret, settings, announcedBytes } = onward;
    const { caller, match, query } = routed;
    const { upstream, key } = caller;
    const { route } = match;
    this.#forwarder.forward(req, res, {
      exchange,
      origin: upstream.upstream.origin,
      method: route.method,
      path: upstream.upstream.basePath + match.path + query,
      headers: buildUpstreamHeaders(headers, {
        host: upstream.host,
        auth: route.auth,
        secret,
        defaultVersion: route.dialect === "messages" ? upstream.upstream.anthropicVersion : null,
      }),
      secret,
      limits: settings.limits,
      announcedBytes,
      inputIncludesCache: upstream.upstream.inputIncludesCache,
      refuse: (refusal) => refuse(req, res, refusal, route.api),
      onUnauthorized: () => this.#keyring.recheck(key, secret),
      clientHasLeft: () => this.#peers.hasLeft(req.socket),
    });
  }

  #refuse(req: IncomingMessage, res: ServerResponse, exchange: Exchange | null, refusal: Refusal): void {
    if (exchange !== null) {
      exchange.status = refusalStatus(refusal.code);
      exchange.recordUnanswered("rejected", refusal.code, null);
    }
    this.#log.debug({ code: refusal.code, method: req.method }, "refused a request");
    const api = exchange?.route.api ?? apiOfPath(req.url ?? "");
    refuse(req, res, refusal, api);
  }

  #refusalOf(error: unknown): Refusal {
    if (error instanceof Refused) return error.refusal;
    this.#log.error({ err: error }, "a request failed for a reason of our own");
    return { code: "internal", message: "something went wrong in here; the daemon's log says what" };
  }
}

/** What the last steps of a request need. */
interface Onward {
  routed: Routed;
  exchange: Exchange;
  headers: HeaderIndex;
  secret: Secret;
  settings: Settings;
  announcedBytes: number | null;
}

/** Refuses a body that says that it is too large; returns how large it says it is, null where it does not. */
function judgeLength(headers: HeaderIndex, settings: Settings): number | null {
  const length = headers.get("content-length");
  if (length === undefined) return headers.has("transfer-encoding") ? null : 0;
  const limit = settings.config.limits.bodyBytes;
  if (Number(length) > limit) throw new Refused(tooLarge(limit));
  return Number(length);
}

function orRefuse(refusal: Refusal | null): void {
  if (refusal !== null) throw new Refused(refusal);
}

import { decideHandshake, findObstacle } from "../../core/decide/handshake.ts";
import type { Choice } from "../../core/decide/choose-upstream.ts";
import { buildDownstreamHeaders } from "../../core/http/build-headers.ts";
import { noWebSocket } from "../../core/refusals/routes.ts";
import { RefusalError } from "../../core/refusals/refusal.ts";
import { noUpstreamWebSocket } from "../../core/refusals/upstreams.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { refuseHandshake } from "../../core/websocket/handshake.ts";
import type { Connections } from "../client/connections.ts";
import { takeSocket } from "../client/take-socket.ts";
import { readRequestId } from "../exchange/download.ts";
import type { UpstreamPools } from "../upstream/pools.ts";
import { EarlySocket } from "./early-socket.ts";
import type { Handshake } from "./judge.ts";
import { Relay, type OpenSocket, type RelayParts } from "./relay.ts";
import { askForWebSocket, type HandshakeAnswer } from "./upstream-handshake.ts";

/** More than the tools of one person open. */
const MOST_SOCKETS = 2_000;

/** Of the connections that clients may have, WebSockets may have so many: they stay open for an hour, and others still have to come through. */
const MOST_SHARE = 0.5;

/** How long it is remembered that an upstream has no WebSocket. */
const UNSUPPORTED_MS = 10 * 60_000;

/** How often open WebSockets look at the time. */
const TICK_MS = 1_000;

const STOPS = "tollkeeper stops";

/** What WebSockets work with. */
interface SocketsParts extends RelayParts {
  pools: UpstreamPools;
  connections: Connections;
  /** The most client connections at a time. */
  maxConnections: number;
}

/** The WebSockets of the daemon: their handshakes, and those that are open. docs/websocket.md has the protocol. */
export class Sockets {
  readonly #parts: SocketsParts;
  readonly #relays = new Set<Relay>();
  /** Handshakes that wait for a key or an upstream. */
  #opening = 0;
  /** By address at an upstream: until when it is known to have no WebSocket, by the monotonic clock. */
  readonly #unsupported = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SocketsParts) {
    this.#parts = parts;
  }

  /** There is another configuration: upstreams may now have WebSockets, and open ones may go to an upstream that is no longer the right one. */
  onSettings(): void {
    this.#unsupported.clear();
    for (const relay of this.#relays) relay.review();
  }

  /** Handles the handshake of a WebSocket. @throws RefusalError */
  async handle(handshake: Handshake): Promise<void> {
    const { settings, client, headers } = handshake;
    const { standing } = this.#parts;
    let step = decideHandshake(handshake, settings, standing, null);
    if (step.kind === "need" && step.what === "process") {
      await client.settle();
      step = decideHandshake(handshake, settings, standing, null);
    }
    if (step.kind === "refuse") throw new RefusalError(step.refusal);
    if (step.kind === "need" && step.what === "process")
      throw new RefusalError(noWebSocket("the tool is not known"));
    const invalid = refuseHandshake(headers);
    if (invalid !== null) throw new RefusalError(invalid);
    this.#refuseIfFull();
    this.#opening += 1;
    try {
      if (step.kind === "accept") await this.#open(handshake, step.choice);
      else await this.#openBySetup(new EarlySocket(handshake, this.#parts));
    } finally {
      this.#opening -= 1;
    }
  }

  /** Opens a WebSocket at its upstream, and then accepts the handshake of the client: it gets the upstream's headers. */
  async #open(handshake: Handshake, choice: Choice): Promise<void> {
    const { req, res } = handshake;
    const { secret, answer } = await this.#ask(handshake, choice);
    switch (answer.kind) {
      case "gone":
        return;
      case "pass":
        // With the connection of a handshake nothing else is done.
        res.shouldKeepAlive = false;
        res.sendDate = false;
        res.writeHead(answer.status, withLength(answer.headers, answer.body)).end(answer.body);
        return;
      case "none":
        throw new RefusalError(noUpstreamWebSocket(choice.upstream, answer.reason));
      case "open": {
        const { headers } = answer.upstream.incoming.head;
        const client = takeSocket(req, res, buildDownstreamHeaders(headers, secret));
        this.#relay({ handshake, client, upstream: answer.upstream, choice, secret });
      }
    }
  }

  /** Opens a WebSocket at the upstream that the client's setup decides on. What goes wrong is told with a Close. */
  async #openBySetup(early: EarlySocket): Promise<void> {
    const { handshake, client } = early;
    this.#parts.connections.adopt(client, () => early.close(1012, STOPS));
    const setup = await early.readSetup();
    if (setup === null) return;
    const { choice } = setup.decision;
    try {
      const obstacle = findObstacle(choice, handshake.client.tool, this.#parts.settings());
      if (obstacle !== null) throw new RefusalError(obstacle);
      const { secret, answer } = await this.#ask(handshake, choice);
      if (answer.kind === "gone") return;
      if (answer.kind === "open" && early.isClosed) answer.upstream.request.destroy();
      else if (answer.kind === "open")
        this.#relay({ handshake, client: early.take(), upstream: answer.upstream, choice, secret });
      else {
        const reason = answer.kind === "none" ? answer.reason : `it responded with ${answer.status}`;
        throw new RefusalError(noUpstreamWebSocket(choice.upstream, reason));
      }
    } catch (error) {
      early.refuse(setup, this.#parts.refuser.refusalOf(error));
    }
  }

  #refuseIfFull(): void {
    const most = Math.min(MOST_SOCKETS, Math.floor(this.#parts.maxConnections * MOST_SHARE));
    if (this.#relays.size + this.#opening >= most)
      throw new RefusalError(noWebSocket(`${most} WebSockets are open already`));
  }

  /** Asks an upstream for a WebSocket, with the key. @throws RefusalError without the key */
  async #ask(handshake: Handshake, choice: Choice): Promise<{ secret: Secret; answer: HandshakeAnswer }> {
    const { req, headers } = handshake;
    const { keyring, limits, pools, books } = this.#parts;
    const address = addressOf(choice);
    const until = this.#unsupported.get(address) ?? -Infinity;
    if (books.clock.monotonic() < until)
      throw new RefusalError(noUpstreamWebSocket(choice.upstream, "it said so some minutes ago"));
    const secret = await keyring.findCredential(choice, headers);
    if (req.socket.destroyed) return { secret, answer: { kind: "gone" } };
    const answer = await askForWebSocket({
      upstream: pools.of(choice, headers),
      choice,
      headers,
      secret,
      client: req.socket,
      onHead: (status, received) => limits.sawResponse(choice, status, received),
    });
    if (answer.kind === "pass" && answer.status === 401 && choice.account === "key")
      keyring.recheck(choice.key);
    if (answer.kind === "none" && answer.isUnsupported)
      this.#unsupported.set(address, books.clock.monotonic() + UNSUPPORTED_MS);
    return { secret, answer };
  }

  #relay(open: Omit<OpenSocket, "requestId">): void {
    const { client, handshake, upstream, secret } = open;
    const requestId = readRequestId(upstream.incoming.head.headers, secret);
    const relay = new Relay({ ...open, requestId }, this.#parts);
    this.#relays.add(relay);
    client.once("close", () => this.#relays.delete(relay));
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    this.#parts.connections.adopt(client, () => relay.retire(1012, STOPS));
    // What was changed while it waited for its upstream.
    if (this.#parts.settings() !== handshake.settings) relay.review();
  }

  /** A check that finds none open is the last. */
  #tick(): void {
    const now = this.#parts.books.clock.monotonic();
    for (const relay of this.#relays) relay.onTick(now);
    if (this.#relays.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** Where a WebSocket is asked for. An upstream may have one at one path, and none at another. */
function addressOf({ upstream, path }: Choice): string {
  return `${upstream.baseUrl} ${path.split("?", 1)[0] ?? ""}`;
}

/** The body has been read: it has a length, and no chunks. */
function withLength(headers: readonly string[], body: Buffer): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = "", value = ""] = [headers[at], headers[at + 1]];
    if (name.toLowerCase() !== "content-length") kept.push(name, value);
  }
  return [...kept, "content-length", String(body.length)];
}

import type { ServerResponse } from "node:http";
import { decideHandshake } from "../../core/decide/handshake.ts";
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
import type { Handshake } from "./judge.ts";
import { Relay, type RelayParts } from "./relay.ts";
import { askForWebSocket, type HandshakeAnswer, type UpstreamSocket } from "./upstream-handshake.ts";

/** More than the tools of one person open. */
const MOST_SOCKETS = 2_000;

/** Of the connections that clients may have, WebSockets may have so many: they stay open for an hour, and others still have to come through. */
const MOST_SHARE = 0.5;

/** How long it is remembered that an upstream has no WebSocket. */
const UNSUPPORTED_MS = 10 * 60_000;

/** How often open WebSockets look at the time. */
const TICK_MS = 1_000;

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
  readonly #open = new Set<Relay>();
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
    for (const relay of this.#open) relay.review();
  }

  /** Handles the handshake of a WebSocket. @throws RefusalError */
  async handle(handshake: Handshake): Promise<void> {
    const { req, res, settings, client, headers } = handshake;
    const { keyring, limits, standing, pools } = this.#parts;
    let step = decideHandshake(handshake, settings, standing);
    if (step.kind === "need") {
      await client.settle();
      step = decideHandshake(handshake, settings, standing);
    }
    if (step.kind !== "accept")
      throw new RefusalError(step.kind === "refuse" ? step.refusal : noWebSocket("the tool is not known"));
    const { choice } = step;
    const invalid = refuseHandshake(headers);
    if (invalid !== null) throw new RefusalError(invalid);
    this.#refuseUnavailable(choice);
    this.#opening += 1;
    try {
      const secret = await keyring.findCredential(choice, headers);
      if (req.socket.destroyed) return;
      const answer = await askForWebSocket({
        upstream: pools.of(choice, headers),
        choice,
        headers,
        secret,
        client: req.socket,
        onHead: (status, received) => limits.sawResponse(choice, status, received),
      });
      this.#take(handshake, choice, secret, answer, res);
    } finally {
      this.#opening -= 1;
    }
  }

  #refuseUnavailable(choice: Choice): void {
    const { upstream } = choice;
    const most = Math.min(MOST_SOCKETS, Math.floor(this.#parts.maxConnections * MOST_SHARE));
    if (this.#open.size + this.#opening >= most)
      throw new RefusalError(noWebSocket(`${most} WebSockets are open already`));
    const until = this.#unsupported.get(addressOf(choice)) ?? -Infinity;
    if (this.#parts.books.clock.monotonic() < until)
      throw new RefusalError(noUpstreamWebSocket(upstream, "it said so some minutes ago"));
  }

  #take(
    handshake: Handshake,
    choice: Choice,
    secret: Secret,
    answer: HandshakeAnswer,
    res: ServerResponse,
  ): void {
    const { keyring, books } = this.#parts;
    const { upstream } = choice;
    switch (answer.kind) {
      case "gone":
        return;
      case "pass":
        if (answer.status === 401 && choice.account === "key") keyring.recheck(choice.key);
        // With the connection of a handshake nothing else is done.
        res.shouldKeepAlive = false;
        res.sendDate = false;
        res.writeHead(answer.status, withLength(answer.headers, answer.body)).end(answer.body);
        return;
      case "none":
        if (answer.isUnsupported)
          this.#unsupported.set(addressOf(choice), books.clock.monotonic() + UNSUPPORTED_MS);
        throw new RefusalError(noUpstreamWebSocket(upstream, answer.reason));
      case "open":
        this.#relay(handshake, choice, secret, answer.upstream);
    }
  }

  #relay(handshake: Handshake, choice: Choice, secret: Secret, upstream: UpstreamSocket): void {
    const { req, res } = handshake;
    const { headers } = upstream.incoming.head;
    const requestId = readRequestId(headers, secret);
    const client = takeSocket(req, res);
    client.write(writeHead(buildDownstreamHeaders(headers, secret)), "latin1");
    const relay = new Relay({ handshake, client, upstream, choice, secret, requestId }, this.#parts);
    this.#open.add(relay);
    client.once("close", () => this.#open.delete(relay));
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    this.#parts.connections.adopt(client, () => relay.retire(1012, "tollkeeper stops"));
  }

  /** A check that finds none open is the last. */
  #tick(): void {
    const now = this.#parts.books.clock.monotonic();
    for (const relay of this.#open) relay.onTick(now);
    if (this.#open.size > 0 || this.#timer === null) return;
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

function writeHead(headers: readonly string[]): string {
  let text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
  for (let at = 0; at + 1 < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return `${text}\r\n`;
}

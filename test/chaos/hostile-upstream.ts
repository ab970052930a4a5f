import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createErrorResponse, type ChaosRoute } from "./responses.ts";
import {
  drawUpstreamBehaviour,
  findUpstreamBehaviour,
  type UpstreamBehaviour,
} from "./upstream-behaviours.ts";
import type { Observations, ReceivedRequest } from "./observations.ts";
import { Call } from "./call.ts";
import { isTainted } from "./hostile-behaviours.ts";
import { createRandom, type Random } from "./random.ts";

/** Tells that a stream is requested before the body has arrived. */
export const STREAM_HEADER = "x-chaos-stream";
export const NONCE_HEADER = "x-session-id";
/** Asks for a response of several megabytes. */
export const HUGE_HEADER = "x-chaos-huge";

const NO_TIME_LIMITS = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 };

/** The response to a key that was replaced. */
const OLD_KEY: [name: string, UpstreamBehaviour] = [
  "old key",
  async (call) => {
    if (await call.readUpload())
      await call.sendResponse(createErrorResponse(call.facts.route, 401, "invalid key"));
  },
];

/**
 * An upstream that does everything that an upstream can do wrong, and records what it received and did. Once it has done everything,
 * its behaviour depends only on the seed and on the request's nonce.
 */
export class HostileUpstream {
  /** The keys that it accepts now. */
  acceptedKeys = new Set<string>();
  /** All keys that were ever valid. */
  readonly ourKeys = new Set<string>();
  readonly sockets = new Set<Socket>();
  /** Nonces of the requests that have not ended. */
  readonly open = new Set<string>();
  /** The last request on each connection. */
  readonly #latest = new WeakMap<Socket, string>();
  /** The number of requests with an accepted key. */
  #accepted = 0;
  readonly #observations: Observations;
  readonly #seed: string;
  readonly #server: Server;

  constructor(observations: Observations, seed: string) {
    this.#observations = observations;
    this.#seed = seed;
    this.#server = createServer(NO_TIME_LIMITS, (req, res) => void this.#receive(req, res));
    this.#server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.sockets.delete(socket));
    });
    // A request that was truncated within its head, or a connection that carried malformed bytes.
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** Listens on a free port. Returns the base URL. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Closes every connection, idle or not. */
  closeConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.closeConnections();
  }

  async #receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    for (const stream of [req, res]) stream.on("error", () => {});
    const nonce = String(req.headers[NONCE_HEADER]);
    const received = this.#enter(nonce);
    if (isTainted(req.socket)) {
      this.#observations.reportViolation("connection used after extra bytes", nonce);
      req.socket.destroy();
      return;
    }
    const random = createRandom(`${this.#seed} upstream ${nonce}`);
    const key = this.#judgeCredentials(req, nonce);
    const isAccepted = this.acceptedKeys.has(key);
    const isHuge = req.headers[HUGE_HEADER] !== undefined;
    const [name, behaviour] = isAccepted ? this.#drawBehaviour(random, isHuge) : OLD_KEY;
    received.behaviour = name;
    this.#observations.note(nonce, `upstream: saw ${req.method} ${req.url}; ${received.behaviour}`);
    this.open.add(nonce);
    res.on("close", () => {
      this.open.delete(nonce);
      received.endedAt = performance.now();
      this.#observations.note(nonce, "upstream: over");
    });
    const route = (req.url ?? "").replace(/^\/v1/, "") as ChaosRoute;
    const isStream = req.headers[STREAM_HEADER] === "1";
    this.#latest.set(req.socket, nonce);
    const isLatest = () => this.#latest.get(req.socket) === nonce;
    const call = new Call(
      { nonce, route, isStream, random, key, received, observations: this.#observations, isLatest },
      req,
      res,
    );
    await behaviour(call);
  }

  #drawBehaviour(random: Random, isHuge: boolean): [name: string, UpstreamBehaviour] {
    return isHuge ? findUpstreamBehaviour("huge event") : drawUpstreamBehaviour(this.#accepted++, random);
  }

  #enter(nonce: string): ReceivedRequest {
    const known = this.#observations.received.get(nonce);
    if (known !== undefined) {
      known.times += 1;
      return known;
    }
    const received: ReceivedRequest = {
      nonce,
      behaviour: "",
      receivedAt: performance.now(),
      times: 1,
      bodyBytes: 0,
      bodyDigest: null,
      expected: null,
      expectedIfCut: null,
      ending: "truncated",
      endedAt: null,
    };
    this.#observations.received.set(nonce, received);
    return received;
  }

  /** Returns the key. Reports a violation unless it is ours and only in the route's own header. */
  #judgeCredentials({ headers, rawHeaders, url = "" }: IncomingMessage, nonce: string): string {
    const isMessages = url.startsWith("/v1/messages");
    const key = isMessages ? headers["x-api-key"] : headers.authorization?.replace(/^Bearer /, "");
    const other = isMessages ? headers.authorization : headers["x-api-key"];
    const names = rawHeaders.filter((name, i) => i % 2 === 0 && /^(?:authorization|x-api-key)$/i.test(name));
    const isOurs = typeof key === "string" && this.ourKeys.has(key);
    if (!isOurs || other !== undefined || names.length !== 1)
      this.#observations.reportViolation("wrong credentials upstream", nonce);
    return typeof key === "string" ? key : "";
  }
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createError, type ChaosRoute } from "./answers.ts";
import { drawBehaviour, type Behaviour } from "./behaviours.ts";
import type { Books, Seen } from "./books.ts";
import { Call } from "./call.ts";
import { isTainted } from "./hostile-behaviours.ts";
import { createRandom } from "./random.ts";

/** Says that a stream is wanted, before the body has come. */
export const STREAM_HEADER = "x-chaos-stream";
export const NONCE_HEADER = "x-session-id";

const NO_TIME_LIMITS = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 };

/** Carries a key that was replaced: as an honest service would. */
const OLD_KEY: [name: string, Behaviour] = [
  "old key",
  async (call) => {
    if (await call.readUpload()) await call.sendWhole(createError(call.facts.route, 401, "invalid key"));
  },
];

/**
 * An upstream that does everything that an upstream can do wrong, and writes down what it saw and did. When it has done
 * everything once, what it does depends on the seed and on the request's name alone.
 */
export class EvilUpstream {
  /** The keys it accepts now. */
  acceptedKeys = new Set<string>();
  /** All that were ever ours. */
  readonly ourKeys = new Set<string>();
  readonly sockets = new Set<Socket>();
  /** Names of the requests that have not ended. */
  readonly open = new Set<string>();
  /** Which request came last on each connection. */
  readonly #latest = new WeakMap<Socket, string>();
  /** How many requests came with a key that is accepted. */
  #accepted = 0;
  readonly #books: Books;
  readonly #seed: string;
  readonly #server: Server;

  constructor(books: Books, seed: string) {
    this.#books = books;
    this.#seed = seed;
    this.#server = createServer(NO_TIME_LIMITS, (req, res) => void this.#receive(req, res));
    this.#server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.sockets.delete(socket));
    });
    // A request that broke off within its head, or a connection that we wrote nonsense into.
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** Listens on a free port; resolves with the base URL. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Ends every connection, idle or not. */
  hangUp(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.hangUp();
  }

  async #receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    for (const stream of [req, res]) stream.on("error", () => {});
    const nonce = String(req.headers[NONCE_HEADER]);
    const seen = this.#enter(nonce);
    if (isTainted(req.socket)) {
      this.#books.offend("connection used after extra bytes", nonce);
      req.socket.destroy();
      return;
    }
    const random = createRandom(`${this.#seed} upstream ${nonce}`);
    const key = this.#judgeCredentials(req, nonce);
    const isAccepted = this.acceptedKeys.has(key);
    const [name, behaviour] = isAccepted ? drawBehaviour(this.#accepted++, random) : OLD_KEY;
    seen.behaviour = name;
    this.#books.note(nonce, `upstream: saw ${req.method} ${req.url}; ${seen.behaviour}`);
    this.open.add(nonce);
    res.on("close", () => {
      this.open.delete(nonce);
      seen.endedAt = performance.now();
      this.#books.note(nonce, "upstream: over");
    });
    const route = (req.url ?? "").replace(/^\/v1/, "") as ChaosRoute;
    const isStream = req.headers[STREAM_HEADER] === "1";
    this.#latest.set(req.socket, nonce);
    const isLatest = () => this.#latest.get(req.socket) === nonce;
    const call = new Call(
      { nonce, route, isStream, random, key, seen, books: this.#books, isLatest },
      req,
      res,
    );
    await behaviour(call);
  }

  #enter(nonce: string): Seen {
    const known = this.#books.seen.get(nonce);
    if (known !== undefined) {
      known.times += 1;
      return known;
    }
    const seen: Seen = {
      nonce,
      behaviour: "",
      times: 1,
      bodyBytes: 0,
      bodyDigest: null,
      truth: null,
      begun: null,
      ending: "broken",
      endedAt: null,
    };
    this.#books.seen.set(nonce, seen);
    return seen;
  }

  /** Returns the key; it has to be ours, in the one header that the route wants. */
  #judgeCredentials({ headers, rawHeaders, url = "" }: IncomingMessage, nonce: string): string {
    const isMessages = url.startsWith("/v1/messages");
    const key = isMessages ? headers["x-api-key"] : headers.authorization?.replace(/^Bearer /, "");
    const other = isMessages ? headers.authorization : headers["x-api-key"];
    const names = rawHeaders.filter((name, i) => i % 2 === 0 && /^(?:authorization|x-api-key)$/i.test(name));
    const isOurs = typeof key === "string" && this.ourKeys.has(key);
    if (!isOurs || other !== undefined || names.length !== 1)
      this.#books.offend("wrong credentials upstream", nonce);
    return typeof key === "string" ? key : "";
  }
}

import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { faultOfResponse } from "../../core/http/response-head.ts";
import { redactReading } from "../../core/secrets/redactor.ts";
import { HeaderIndex } from "../../core/http/header-index.ts";
import type { CutBy } from "../../core/ledger/record.ts";
import { refusalStatus, type Refusal } from "../../core/http/refusal.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { UpstreamResponse } from "./upstream-response.ts";
import type { Exchange } from "./exchange.ts";
import { noConnection, tooLarge, tooSilent, tooSlow, tooStuck } from "./limit-refusals.ts";
import { Upload } from "./upload.ts";
import { CONNECT_LIMIT_MS, UpstreamDeadline, type UpstreamLimits } from "../upstream/deadline.ts";
import { explainUpstreamError } from "../upstream/failures.ts";

/** Limits of one passage, from the configuration. */
export interface RoundTripLimits extends UpstreamLimits {
  /** Request body; more is refused with 413 without buffering. */
  bodyBytes: number;
  /** Longest silence of the client within the request's body. */
  bodyIdleMs: number;
  /** What the upstream is given to say its final usage after the client has left. */
  graceMs: number;
}

/** How an upstream is reached. */
export interface UpstreamTransport {
  /** Begins a request over one of its connections; `headers` is a flat list, and complete. */
  open(method: string, path: string, headers: string[]): ClientRequest;
  secure: boolean;
  /** Through the proxy? */
  isProxied: boolean;
}

/** Everything that a passage needs to know; composed by the steps before it. */
export interface RoundTripOptions {
  exchange: Exchange;
  method: string;
  /** Path and query on the upstream. */
  path: string;
  /** Flat list, complete, credential included. */
  headers: string[];
  secret: Secret;
  limits: RoundTripLimits;
  inputIncludesCache: boolean;
  /** Answers the client in our own name; closes its connection when the request's body was not read to its end. */
  refuse(refusal: Refusal): void;
  /** The upstream did not accept the key. */
  onUnauthorized(): void;
  /** As in `UploadOrder`, both. */
  announcedBytes: number | null;
  clientHasLeft(): Promise<boolean>;
}

/**
 * One request on its way to the upstream and its answer on the way back, byte for byte: unbuffered, with
 * back-pressure both ways, metered from a copy. However it ends, it ends once, and leaves one record before the client
 * can see the last byte.
 */
export class RoundTrip {
  /** Where `Passages` has it. */
  place = 0;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #order: RoundTripOptions;
  readonly #onEnd: () => void;
  readonly #exchange: Exchange;
  readonly #upstream: ClientRequest;
  readonly #clock: UpstreamDeadline;
  readonly #upload: Upload;
  readonly #isProxied: boolean;
  #answer: UpstreamResponse | null = null;
  #clientGone = false;
  #graceTimer: NodeJS.Timeout | null = null;
  #settled = false;

  /** `onEnd` is called once, never from within the constructor. */
  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    order: RoundTripOptions,
    { open, secure, isProxied }: UpstreamTransport,
    onEnd: () => void,
  ) {
    this.#onEnd = onEnd;
    this.#req = req;
    this.#res = res;
    this.#order = order;
    this.#exchange = order.exchange;
    this.#isProxied = isProxied;
    const { method, path, headers, limits } = order;
    this.#upstream = open(method, path, headers);
    this.#clock = new UpstreamDeadline(this.#upstream, { secure, limits, onLate: () => this.#onLate() });
    this.#watchUpstream();
    this.#watchClient();
    this.#upload = new Upload(req, this.#upstream, order.exchange, {
      announcedBytes: order.announcedBytes,
      limitBytes: limits.bodyBytes,
      idleMs: limits.bodyIdleMs,
      onTooLarge: () => this.#fail(tooLarge(limits.bodyBytes)),
      onIdle: () => this.#fail(tooSlow(limits.bodyIdleMs), "client"),
      onProgress: () => this.#clock.restart(),
      clientHasLeft: order.clientHasLeft,
    });
  }

  /** Ends the passage now, from our side: the daemon stops. */
  abort(): void {
    this.#break("proxy");
  }

  #watchUpstream(): void {
    const upstream = this.#upstream;
    upstream.on("response", (answer) => this.#onAnswer(answer));
    upstream.on("error", (error) => this.#onUpstreamError(error));
    // An upgrade that nobody asked for; Node destroys the connection when there is no listener at all.
    upstream.on("upgrade", (_answer, socket) => {
      socket.destroy();
      this.#fail(
        { code: "upstream_invalid", message: "the upstream switched protocols unasked" },
        "upstream",
      );
    });
    upstream.on("close", () => {
      if (this.#answer === null) this.#onUpstreamError(new Error("the upstream closed the connection"));
    });
  }

  #watchClient(): void {
    // The connection's end, not the answer's: one that is queued behind another never hears of it.
    this.#req.socket.on("close", this.#onClientGone);
    this.#res.on("drain", () => this.#answer?.goOn());
    // Both are followed by `close`, which is where they are dealt with; unheard they would end the process.
    this.#res.on("error", ignore);
    this.#req.on("error", ignore);
  }

  #onAnswer(incoming: IncomingMessage): void {
    if (this.#settled) {
      incoming.destroy();
      return;
    }
    const { statusCode: status = 0, httpVersion, rawHeaders } = incoming;
    const headers = new HeaderIndex(rawHeaders);
    const fault = faultOfResponse({ status, httpVersion, headers });
    if (fault !== null) {
      this.#fail({ code: "upstream_invalid", message: fault }, "upstream");
      return;
    }
    this.#clock.answering();
    if (status === 401) this.#order.onUnauthorized();
    this.#answer = new UpstreamResponse(incoming, headers, {
      exchange: this.#exchange,
      secret: this.#order.secret,
      inputIncludesCache: this.#order.inputIncludesCache,
      res: this.#clientGone ? null : this.#res,
      onProgress: () => this.#clock.restart(),
      onWhole: () => this.#settle("upstream", true),
      onBroken: () => this.#break("upstream"),
    });
  }

  /** The exchange broke off; the client must not take what it has for the whole. */
  #break(cutBy: CutBy): void {
    this.#settle(cutBy, false);
  }

  /** Nothing was answered yet, and nothing will be: tells the client in our own name. */
  #fail(refusal: Refusal, cutBy: CutBy | null = null): void {
    if (this.#answer !== null && this.#res.headersSent) {
      this.#break(cutBy ?? "proxy");
      return;
    }
    if (this.#settled) return;
    this.#settled = true;
    this.#stopClocks();
    this.#upstream.destroy();
    this.#exchange.status = this.#clientGone ? null : refusalStatus(refusal.code);
    this.#exchange.recordUnanswered(cutBy === null ? "rejected" : "cut", refusal.code, cutBy);
    if (!this.#clientGone) this.#order.refuse(refusal);
    this.#onEnd();
  }

  #settle(breaker: CutBy, whole: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    // Whatever happens in the grace, it was the client who left first.
    const cutBy = this.#clientGone ? "client" : breaker;
    this.#stopClocks();
    const answer = this.#answer;
    if (answer === null) {
      this.#exchange.recordUnanswered("cut", null, cutBy);
      this.#close(false);
      return;
    }
    answer.settle(whole, (reading, isWhole) => {
      this.#exchange.bytesOut = answer.bytes;
      // An upstream that echoes the key, as a model's name say, must not get it into the ledger.
      this.#exchange.record(redactReading(reading, this.#order.secret), cutBy);
      this.#close(isWhole);
    });
  }

  /** The last step: the record is written, the client may see the end. */
  #close(whole: boolean): void {
    if (whole) {
      this.#answer?.end();
      this.#upload.discardRest();
    } else {
      this.#upstream.destroy();
      this.#res.destroy();
    }
    this.#onEnd();
  }

  readonly #onClientGone = (): void => {
    if (this.#settled) return;
    this.#clientGone = true;
    const { graceMs } = this.#order.limits;
    if (!this.#req.complete || graceMs === 0) {
      this.#break("client");
      return;
    }
    this.#answer?.loseClient();
    this.#graceTimer = setTimeout(() => this.#break("client"), graceMs);
  };

  #onLate(): void {
    if (this.#settled) return;
    const { firstByteMs } = this.#order.limits;
    switch (this.#clock.phase) {
      case "connecting":
        this.#fail(noConnection(CONNECT_LIMIT_MS, this.#isProxied));
        break;
      case "sending":
        // Silence of the client within its body has a limit of its own.
        if (!this.#upload.isHeldUp) this.#clock.restart();
        else this.#fail(tooStuck(firstByteMs), "proxy");
        break;
      case "waiting":
        this.#fail(tooSilent(firstByteMs), "proxy");
        break;
      case "answering":
        // Silence that we made ourselves, because the client does not read, is not the upstream's.
        if (this.#answer?.isHeldUp === true) this.#clock.restart();
        else this.#break("proxy");
    }
  }

  #onUpstreamError(error: Error): void {
    if (this.#settled) return;
    if (this.#answer !== null) {
      // A reset: Node says so before it calls an answer without length complete, and only here.
      if (this.#answer.isComplete) return;
      // What came in the same piece as the fault is still to be had: it was sent, and may tell the usage.
      this.#answer.goOn();
      this.#answer.readOn();
      this.#break("upstream");
      return;
    }
    const connected = this.#clock.phase !== "connecting";
    const cutBy = this.#clientGone ? "client" : connected ? "upstream" : null;
    this.#fail(explainUpstreamError(error, connected), cutBy);
  }

  #stopClocks(): void {
    this.#req.socket.off("close", this.#onClientGone);
    this.#upload.stop();
    this.#clock.stop();
    if (this.#graceTimer !== null) clearTimeout(this.#graceTimer);
  }
}

function ignore(): void {}

import type { IncomingMessage, ServerResponse } from "node:http";
import { InvalidResponse } from "../../core/http/invalid-response.ts";
import { getRefusalStatus, type Refusal } from "../../core/refusals/refusal.ts";
import type { CutBy } from "../../core/ledger/record.ts";
import type { MeterReading } from "../../core/usage/reading.ts";
import { redactReading } from "../../core/usage/redact-reading.ts";
import { resetConnection } from "../client/reset-connection.ts";
import { sendRefusal } from "../send-refusal.ts";
import { Deadline, getConnectLimitMs, type Phase } from "../upstream/deadline.ts";
import { invalidResponse, noUpstream, plainToTls } from "../../core/refusals/upstreams.ts";
import type { IncomingResponse } from "../upstream/incoming-response.ts";
import type { PlainServer } from "../upstream/plain-server.ts";
import type { UpstreamRequest } from "../upstream/upstream-request.ts";
import type { ExchangeRecorder } from "./exchange-recorder.ts";
import type { Fallback } from "./fallback.ts";
import { noConnection, tooSilent, tooStuck } from "../../core/refusals/limits.ts";
import type { RoundTripOptions, UpstreamTransport } from "./round-trip-options.ts";
import { Upload } from "./upload.ts";
import { ATTEMPTS_HEADER } from "./response-writer.ts";
import { UpstreamResponse } from "./upstream-response.ts";

/**
 * One request to an upstream and its response: byte for byte, unbuffered, with back-pressure both ways, metered from a copy.
 * It ends once, however it ends, and leaves one record before the client can see the last byte.
 */
export class RoundTrip {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #options: RoundTripOptions;
  readonly #exchange: ExchangeRecorder;
  readonly #transport: UpstreamTransport;
  readonly #upstream: UpstreamRequest;
  readonly #deadline: Deadline;
  readonly #upload: Upload;
  #response: UpstreamResponse | null = null;
  #isClientGone = false;
  /**
   * Set while another attempt is being prepared: ends this one, by taking its response or by failing. What becomes of the connection
   * is ignored meanwhile.
   */
  #conclude: (() => void) | null = null;
  /** True once another attempt has taken over the client. */
  #isReplaced = false;
  #graceTimer: NodeJS.Timeout | null = null;
  #isSettled = false;

  /** Sends the request. */
  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    options: RoundTripOptions,
    transport: UpstreamTransport,
  ) {
    const { exchange, headers, announcedBytes, guard, fallback, buffer, hasClientLeft } = options;
    const { choice, limits } = exchange;
    this.#req = req;
    this.#res = res;
    this.#options = options;
    this.#exchange = exchange;
    this.#transport = transport;
    this.#upstream = transport.open(choice.route.method, choice.path, headers, {
      onReady: () => this.#deadline.onReady(),
      onReconnect: () => this.#deadline.onReconnect(),
      onSent: () => this.#deadline.onSent(),
      onResponse: (incoming) => this.#onResponse(incoming),
      onFailed: (error) => this.#onUpstreamError(error),
    });
    this.#deadline = new Deadline(limits, (phase) => this.#onTimeout(phase));
    if (this.#upstream.connection.isReady) this.#deadline.onReady();
    this.#listenToClient();
    this.#upload = new Upload(req, this.#upstream, {
      exchange,
      announcedBytes,
      guard,
      kept: fallback?.body ?? null,
      limits,
      deadline: this.#deadline,
      buffer,
      hasClientLeft,
      onFailed: (refusal, cutBy) => this.#fail(refusal, cutBy),
    });
    exchange.roundTrip = this;
  }

  /** Returns what was learned of the response so far, as if it ended now; null before there is one. */
  readSoFar(): MeterReading | null {
    return this.#response === null ? null : this.#toRecord(this.#response, this.#response.readSoFar());
  }

  /** Ends it now from our side: the daemon stops. */
  abort(): void {
    this.#settle("proxy", false);
  }

  #listenToClient(): void {
    // The socket's 'close', not the response's: a response queued behind another one on the connection never emits it.
    this.#req.socket.on("close", this.#onClientClose);
    // 'close' follows and does the cleanup. Without a listener, an error would crash the process.
    this.#res.on("error", ignore);
    this.#req.on("error", ignore);
  }

  /** The response head has arrived: writes it to the client, and streams the body behind it. */
  #onResponse(incoming: IncomingResponse): void {
    if (this.#isSettled) return;
    const { status, headers } = incoming.head;
    this.#deadline.onResponse();
    const { plain } = this.#transport;
    if (plain?.isProven === false && plain.isDoubtful(status, headers.get("content-type"))) {
      void this.#askForTls(plain, () =>
        this.#acceptResponse(incoming, () => this.#takeLateResponse(incoming)),
      );
      return;
    }
    this.#acceptResponse(incoming, () => this.#takeResponse(incoming));
  }

  #acceptResponse(incoming: IncomingResponse, take: () => void): void {
    const { status } = incoming.head;
    if (status === 401) this.#options.onKeyRejected();
    const { fallback } = this.#options;
    fallback?.answered(this.#exchange.choice, status);
    if (fallback?.mayFollow(status) !== true || this.#isClientGone) {
      take();
      return;
    }
    void this.#handOver(fallback, `status=${status}`, () => this.#takeLateResponse(incoming));
  }

  #takeResponse(incoming: IncomingResponse): void {
    const { exchange, secret, buffer, fallback } = this.#options;
    const hasClient = !this.#isClientGone && !this.#isReplaced;
    if (!this.#isReplaced) fallback?.body.drop();
    this.#response = new UpstreamResponse(incoming, {
      exchange,
      secret,
      deadline: this.#deadline,
      buffer,
      res: hasClient ? this.#res : null,
      attempts: fallback?.describe(exchange.choice, `status=${incoming.head.status}`) ?? null,
      onEnd: () => this.#settle("upstream", true),
    });
  }

  /** Takes a response that has been waiting. If it has ended or broken off meanwhile, no event follows. */
  #takeLateResponse(incoming: IncomingResponse): void {
    this.#takeResponse(incoming);
    this.#response?.read();
    if (incoming.isBroken) this.#settle("upstream", false);
  }

  /**
   * Hands the client over to another attempt, since this upstream has done nothing. `conclude` ends this one: without the client if
   * another attempt follows, and otherwise with it.
   */
  async #handOver(fallback: Fallback, result: string, conclude: () => void): Promise<void> {
    this.#conclude = conclude;
    this.#upload.divert();
    const next = await fallback.next(this.#exchange, result);
    // The client has left, its body was refused, or the daemon is stopping.
    if (this.#conclude === null) return;
    this.#upload.stop();
    if (next === null) {
      this.#endHandover();
      return;
    }
    this.#isReplaced = true;
    this.#exchange.releaseHold();
    this.#req.socket.off("close", this.#onClientClose);
    this.#endHandover();
    this.#endWithin(this.#exchange.limits.graceMs, "upstream");
    fallback.start(next);
  }

  /** Asks a server whose response one that expects TLS could send. `conclude` goes on if it does not. */
  async #askForTls(plain: PlainServer, conclude: () => void): Promise<void> {
    this.#conclude = conclude;
    const wantsTls = await plain.speaksTls();
    // The client has left, its body was refused, or the daemon is stopping.
    if (this.#conclude === null) return;
    if (!wantsTls) {
      this.#endHandover();
      return;
    }
    this.#conclude = null;
    this.#failUnsent(plainToTls(this.#exchange.choice.upstream));
  }

  #endHandover(): void {
    const conclude = this.#conclude;
    this.#conclude = null;
    conclude?.();
  }

  #endWithin(graceMs: number, cutBy: CutBy): void {
    if (!this.#isSettled) this.#graceTimer = setTimeout(() => this.#settle(cutBy, false), graceMs);
  }

  /** Ends the round trip: writes the record, then lets the client see the end. `errorType` is for the record without a response. */
  #settle(endedBy: CutBy, isWhole: boolean, errorType: string | null = null): void {
    this.#endHandover();
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#stopTimers();
    // Whatever happens in the grace period, the client disconnected first.
    const cutBy = this.#isClientGone ? "client" : endedBy;
    const response = this.#response;
    if (response === null) {
      this.#exchange.recordUnanswered("cut", errorType, cutBy, () => this.#close(false));
      return;
    }
    response.settle(isWhole, this.#isClientGone, (reading, isReallyWhole) => {
      this.#exchange.record(this.#toRecord(response, reading), cutBy, () => this.#close(isReallyWhole));
    });
  }

  /** The ledger must not get a key that an upstream echoes, for instance in a model's name. */
  #toRecord(response: UpstreamResponse, reading: MeterReading): MeterReading {
    this.#exchange.bytesOut = response.bytes;
    return redactReading(reading, this.#options.secret);
  }

  /**
   * The last step. A truncated response is destroyed, so that the client cannot take it for complete. If none had begun, the client's
   * connection is reset: tools retry that as they would without us (docs/wire.md section 4). So it is if the body would end with it.
   */
  #close(isWhole: boolean): void {
    if (this.#isReplaced) {
      // With half a request on it, the connection is of no more use.
      if (!isWhole || !this.#upstream.writableFinished) this.#upstream.destroy();
    } else if (isWhole) {
      this.#response?.end();
      this.#upload.discardRest();
    } else {
      this.#upstream.destroy();
      if (this.#response === null || !this.#res.useChunkedEncodingByDefault)
        resetConnection(this.#req.socket);
      else this.#res.destroy();
    }
  }

  /**
   * Ends the round trip with a refusal of our own; without one if the client already has a head. `cutBy` is null for a
   * request that was rejected, and otherwise names the side that ended it.
   */
  #fail(refusal: Refusal, cutBy: CutBy | null): void {
    if (this.#response !== null && this.#res.headersSent) {
      this.#settle(cutBy ?? "proxy", false);
      return;
    }
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#conclude = null;
    this.#stopTimers();
    this.#upstream.destroy();
    const { route, upstream } = this.#exchange.choice;
    const hasClient = !this.#isClientGone && !this.#isReplaced;
    this.#options.failures.keep(upstream.name, refusal);
    this.#exchange.status = hasClient ? getRefusalStatus(refusal.code, route.api) : null;
    this.#exchange.recordUnanswered(cutBy === null ? "rejected" : "cut", refusal.code, cutBy, () => {
      if (hasClient) this.#refuse(refusal);
    });
  }

  /** Fails because of the upstream, after it may have seen the request. */
  #failBroken(refusal: Refusal, cutBy: CutBy): void {
    this.#options.fallback?.failed(this.#exchange.choice);
    this.#fail(refusal, cutBy);
  }

  /** Fails before anything was sent: the request may go to another upstream. */
  #failUnsent(refusal: Refusal): void {
    const { fallback } = this.#options;
    const fail = () => this.#fail(refusal, this.#isClientGone ? "client" : null);
    fallback?.failed(this.#exchange.choice);
    if (fallback?.hasNext !== true || this.#isClientGone) {
      fail();
      return;
    }
    this.#deadline.stop();
    this.#upstream.destroy();
    void this.#handOver(fallback, `error=${refusal.code}`, fail);
  }

  #refuse(refusal: Refusal): void {
    const { tool, choice } = this.#exchange;
    const { refusals, fallback } = this.#options;
    refusals.count(refusal.code, tool);
    const attempts = fallback?.describe(choice, `error=${refusal.code}`) ?? null;
    const explained = attempts === null ? refusal : { ...refusal, headers: [ATTEMPTS_HEADER, attempts] };
    sendRefusal(this.#req, this.#res, explained, choice.route.api);
  }

  /** When a client disconnects after its whole request, the upstream gets a grace period to report the usage. */
  readonly #onClientClose = (): void => {
    if (this.#isSettled) return;
    this.#isClientGone = true;
    this.#endHandover();
    const { graceMs } = this.#exchange.limits;
    if (!this.#req.complete || graceMs === 0) {
      this.#settle("client", false);
      return;
    }
    this.#response?.onClientGone();
    this.#endWithin(graceMs, "client");
  };

  #onTimeout(phase: Phase): void {
    if (this.#isSettled) return;
    const { firstByteMs } = this.#exchange.limits;
    const { upstream } = this.#exchange.choice;
    switch (phase) {
      case "connecting":
        this.#failUnsent(noConnection(upstream, getConnectLimitMs(firstByteMs), this.#transport.isProxied));
        break;
      case "sending":
        // A client that is silent within its body has a limit of its own.
        if (this.#upload.isBlocked) this.#failBroken(tooStuck(upstream, firstByteMs), "proxy");
        else this.#deadline.restart();
        break;
      case "waiting":
        this.#failBroken(tooSilent(upstream, firstByteMs), "proxy");
        break;
      case "responding":
        // While the client does not read, or another attempt is being prepared, the silence is ours and not the upstream's.
        if (this.#response === null || this.#response.isBlocked) this.#deadline.restart();
        else this.#settle("proxy", false);
    }
  }

  #onUpstreamError(error: Error): void {
    if (this.#isSettled || this.#conclude !== null) return;
    const response = this.#response;
    if (response !== null) {
      // Takes what arrived together with the error: it may contain the usage.
      response.read();
      this.#settle("upstream", false);
      return;
    }
    if (this.#deadline.phase === "connecting") {
      this.#failUnsent(noUpstream(error, this.#exchange.choice.upstream, process.platform));
      return;
    }
    const { plain } = this.#transport;
    if (plain?.isProven === false) void this.#askForTls(plain, () => this.#onBroken(error));
    else this.#onBroken(error);
  }

  /** The upstream may have done what was asked, and there is no valid response. */
  #onBroken(error: Error): void {
    if (error instanceof InvalidResponse) {
      const refusal = invalidResponse(this.#exchange.choice.upstream, error.message);
      this.#failBroken(refusal, this.#isClientGone ? "client" : "upstream");
      return;
    }
    this.#options.fallback?.failed(this.#exchange.choice);
    this.#settle("upstream", false, "upstream_broke");
  }

  #stopTimers(): void {
    this.#req.socket.off("close", this.#onClientClose);
    this.#upload.stop();
    this.#deadline.stop();
    if (!this.#isReplaced) this.#options.fallback?.body.drop();
    if (this.#graceTimer !== null) clearTimeout(this.#graceTimer);
  }
}

function ignore(): void {}

import type { Socket } from "node:net";
import type { Limits } from "../../ports.ts";
import { readRejection } from "../../core/http/bedrock/rejected-key.ts";
import { InvalidResponse } from "../../core/http/framing.ts";
import type { CutBy } from "../../core/ledger/record.ts";
import { noConnection, tooSilent, tooStuck } from "../../core/refusals/limits.ts";
import type { Refusal } from "../../core/refusals/refusal.ts";
import { invalidResponse, noUpstream, plainToTls } from "../../core/refusals/upstreams.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { resetConnection } from "../client/reset-connection.ts";
import type { Refuser } from "../refusals/refuser.ts";
import { Deadline, getConnectLimitMs, type Phase } from "../upstream/deadline.ts";
import type { IncomingResponse } from "../upstream/incoming-response.ts";
import type { PlainServer } from "../upstream/plain-server.ts";
import type { PooledUpstream } from "../upstream/pools.ts";
import type { UpstreamRequest } from "../upstream/upstream-request.ts";
import type { Attempts } from "./attempts.ts";
import type { Exchange, ReadResponse } from "./exchange.ts";
import { Offer } from "./offer.ts";
import type { SharedBuffer } from "./shared-buffer.ts";
import { Upload, type OutgoingBody } from "./upload.ts";
import { Download, type EndedResponse } from "./download.ts";

/** What all round trips share. */
export interface RoundTripServices {
  /** Counts what waits for clients and upstreams. */
  buffer: SharedBuffer;
  refuser: Refuser;
  limits: Limits;
  keyring: {
    /** Reads a key again that the upstream has rejected. `serviceTime` as in {@link readRejection}. */
    recheck(key: KeyRef, serviceTime: number | null): void;
  };
  peers: {
    /** Asks the system whether the client has closed its end of the connection. */
    hasLeft(socket: Socket): Promise<boolean>;
  };
}

/** What a round trip sends. */
export interface Outgoing {
  /** The upstream's headers: flat, complete, with the credential. */
  headers: string[];
  /** The key in `headers`, to be redacted from whatever comes back. */
  secret: Secret;
  body: OutgoingBody;
  /** The upstreams to ask next if this one does nothing; null where there are none. */
  attempts: Attempts | null;
}

/** How a round trip ends. */
type Ending =
  /** The response has arrived as a whole. */
  | { kind: "whole"; by: "upstream" }
  /** What has arrived of a response is all that the client gets. `errorType` is for the record of one that had not begun. */
  | { kind: "cut"; by: CutBy; errorType: string | null }
  /** Before the client has a head: with a response of our own. `by` names the side that ended it; null for a request that was rejected. */
  | { kind: "refused"; refusal: Refusal; by: CutBy | null };

const WHOLE: Ending = { kind: "whole", by: "upstream" };

/**
 * One request to an upstream and its response: byte for byte, unbuffered, with back-pressure both ways, metered from a copy.
 * It ends once, in one of three ways ({@link Ending}), and leaves one record before the client can see the last byte.
 * Of a stream, that is the chunk which says that nothing follows: its last event has gone before.
 */
export class RoundTrip {
  readonly #exchange: Exchange;
  readonly #secret: Secret;
  readonly #services: RoundTripServices;
  readonly #pooled: PooledUpstream;
  readonly #sent: UpstreamRequest;
  readonly #deadline: Deadline;
  readonly #upload: Upload;
  #download: Download | null = null;
  #isClientGone = false;
  /** To the next attempt; null where there are none. */
  readonly #offer: Offer | null;
  /**
   * Set while something has to be known first: what it does then. It takes the response, or fails. What becomes of the connection is
   * ignored meanwhile.
   */
  #held: (() => void) | null = null;
  #graceTimer: NodeJS.Timeout | null = null;
  #hasEnded = false;

  /** 8. Sends the request. */
  constructor(exchange: Exchange, outgoing: Outgoing, services: RoundTripServices, pooled: PooledUpstream) {
    const { choice, limits } = exchange;
    this.#exchange = exchange;
    this.#secret = outgoing.secret;
    this.#services = services;
    this.#pooled = pooled;
    this.#offer = outgoing.attempts === null ? null : new Offer(outgoing.attempts, choice);
    this.#sent = pooled.open(choice.route.method, choice.path, outgoing.headers, {
      onReady: () => this.#deadline.onReady(),
      onReconnect: () => this.#deadline.onReconnect(),
      onSent: () => this.#deadline.onSent(),
      onResponse: (incoming) => this.#onResponse(incoming),
      onFailed: (error) => this.#onUpstreamError(error),
    });
    this.#deadline = new Deadline(limits, (phase) => this.#onTimeout(phase));
    if (this.#sent.connection.isReady) this.#deadline.onReady();
    this.#listenToClient();
    this.#upload = new Upload(exchange, this.#sent, {
      body: outgoing.body,
      deadline: this.#deadline,
      services,
      onFailed: (refusal, by) => this.#settle({ kind: "refused", refusal, by }),
    });
    exchange.begin(this);
  }

  /** Returns what was learned of the response so far, as if it ended now; null before there is one. */
  readSoFar(): ReadResponse | null {
    return this.#download?.readSoFar() ?? null;
  }

  /** Ends it now from our side: the daemon stops. */
  abort(): void {
    this.#cut("proxy");
  }

  #listenToClient(): void {
    const { req, res } = this.#exchange.received;
    // The socket's 'close', not the response's: a response queued behind another one on the connection never emits it.
    req.socket.on("close", this.#onClientClose);
    // 'close' follows and does the cleanup. Without a listener, an error would crash the process.
    res.on("error", ignore);
    req.on("error", ignore);
  }

  // 9. The response: it is taken, unless something has to be known before.

  /** The response head has arrived. */
  #onResponse(incoming: IncomingResponse): void {
    if (this.#hasEnded) return;
    const { status, headers } = incoming.head;
    this.#deadline.onResponse();
    this.#services.limits.sawResponse(this.#exchange.findPayer(headers), status, headers);
    const { plain } = this.#pooled;
    if (plain?.isProven === false && plain.isDoubtful(status, headers.get("content-type")))
      void this.#askForTls(plain, () => this.#acceptResponse(incoming, true));
    else this.#acceptResponse(incoming, false);
  }

  /** It is a response of the upstream's: it is for the client, unless the client is offered to another attempt. */
  #acceptResponse(incoming: IncomingResponse, hasWaited: boolean): void {
    const { status, headers } = incoming.head;
    const { choice } = this.#exchange;
    const rejection = choice.account === "key" ? readRejection(status, headers) : null;
    if (rejection !== null && choice.account === "key")
      this.#services.keyring.recheck(choice.key, rejection.serviceTime);
    const offer = this.#offer;
    const result = offer?.responded(status) ?? null;
    if (offer === null || result === null || this.#isClientGone) this.#takeResponse(incoming, hasWaited);
    else this.#offerClient(offer, result, () => this.#takeResponse(incoming, true));
  }

  /** Writes the head to the client, and streams the body behind it. What has waited may have ended or broken off meanwhile: no event follows. */
  #takeResponse(incoming: IncomingResponse, hasWaited: boolean): void {
    const offer = this.#offer;
    offer?.dropBody();
    this.#download = new Download(incoming, {
      exchange: this.#exchange,
      secret: this.#secret,
      deadline: this.#deadline,
      buffer: this.#services.buffer,
      res: this.#hasClient ? this.#exchange.received.res : null,
      attempts: offer?.describe(`status=${incoming.head.status}`) ?? null,
      onEnd: () => this.#settle(WHOLE),
    });
    if (!hasWaited) return;
    this.#download.read();
    if (incoming.isBroken) this.#cut("upstream");
  }

  // Where something has to be known first, the response, or the failure, is held until then.

  #release(): void {
    const held = this.#held;
    this.#held = null;
    held?.();
  }

  /** Asks a server whose response one that expects TLS could send, and does what is held if it does not. */
  async #askForTls(plain: PlainServer, held: () => void): Promise<void> {
    this.#held = held;
    const wantsTls = await plain.speaksTls();
    // The client has left, its body was refused, or the daemon is stopping.
    if (this.#held === null) return;
    if (wantsTls) {
      this.#held = null;
      this.#failUnsent(plainToTls(this.#exchange.choice.upstream));
    } else this.#release();
  }

  #offerClient(offer: Offer, result: string, held: () => void): void {
    this.#held = held;
    this.#upload.divert();
    offer.make(result);
  }

  /**
   * Resolves with what became of the request, as in the header of attempts, if the upstream has done nothing with it; with null if it
   * went on to its end. After the former, call {@link RoundTrip.keepClient} or {@link RoundTrip.leaveClient}. null without attempts.
   */
  get nothingDone(): Promise<string | null> | null {
    return this.#offer?.made ?? null;
  }

  /** True while the client is on offer. It ends when the client leaves, its body is refused, or the daemon stops. */
  get isOnOffer(): boolean {
    return this.#held !== null;
  }

  /** No other attempt follows: the client gets what there is. */
  keepClient(): void {
    this.#upload.stop();
    this.#release();
  }

  /** Another attempt follows, which has the client from now on. */
  leaveClient(): void {
    this.#upload.stop();
    this.#offer?.take();
    this.#exchange.releaseHold();
    this.#exchange.received.req.socket.off("close", this.#onClientClose);
    this.#release();
    this.#endWithin(this.#exchange.limits.graceMs, "upstream");
  }

  get #hasClient(): boolean {
    return !this.#isClientGone && !this.#isReplaced;
  }

  /** True once another attempt has the client. */
  get #isReplaced(): boolean {
    return this.#offer?.isTaken === true;
  }

  // What goes wrong.

  /** When a client disconnects after its whole request, the upstream gets a grace period to report the usage. */
  readonly #onClientClose = (): void => {
    if (this.#hasEnded) return;
    this.#isClientGone = true;
    this.#release();
    const { limits, received } = this.#exchange;
    if (!received.req.complete || limits.graceMs === 0) {
      this.#cut("client");
      return;
    }
    this.#download?.onClientGone();
    this.#endWithin(limits.graceMs, "client");
  };

  #endWithin(graceMs: number, by: CutBy): void {
    if (!this.#hasEnded) this.#graceTimer = setTimeout(() => this.#cut(by), graceMs);
  }

  #onTimeout(phase: Phase): void {
    if (this.#hasEnded) return;
    const { firstByteMs } = this.#exchange.limits;
    const { upstream } = this.#exchange.choice;
    switch (phase) {
      case "connecting":
        this.#failUnsent(noConnection(upstream, getConnectLimitMs(firstByteMs), this.#pooled.isProxied));
        break;
      case "sending":
        // A client that is silent within its body has a limit of its own.
        if (this.#upload.isBlocked) this.#failSent(tooStuck(upstream, firstByteMs), "proxy");
        else this.#deadline.restart();
        break;
      case "waiting":
        this.#failSent(tooSilent(upstream, firstByteMs), "proxy");
        break;
      case "responding":
        // While the client does not read, or another attempt is being prepared, the silence is ours and not the upstream's.
        if (this.#download === null || this.#download.isBlocked) this.#deadline.restart();
        else this.#cut("proxy");
    }
  }

  #onUpstreamError(error: Error): void {
    if (this.#hasEnded || this.#held !== null) return;
    const download = this.#download;
    if (download !== null) {
      // Takes what arrived together with the error: it may contain the usage.
      download.read();
      this.#cut("upstream");
      return;
    }
    if (this.#deadline.phase === "connecting") {
      this.#failUnsent(noUpstream(error, this.#exchange.choice.upstream, process.platform));
      return;
    }
    const { plain } = this.#pooled;
    if (plain?.isProven === false) void this.#askForTls(plain, () => this.#onBroken(error));
    else this.#onBroken(error);
  }

  /** The upstream may have done what was asked, and there is no valid response. */
  #onBroken(error: Error): void {
    const { choice } = this.#exchange;
    if (error instanceof InvalidResponse) {
      this.#failSent(
        invalidResponse(choice.upstream, error.message),
        this.#isClientGone ? "client" : "upstream",
      );
      return;
    }
    this.#offer?.failed();
    this.#settle({ kind: "cut", by: "upstream", errorType: "upstream_broke" });
  }

  /** Fails because of the upstream, after it may have seen the request. */
  #failSent(refusal: Refusal, by: CutBy): void {
    this.#offer?.failed();
    this.#settle({ kind: "refused", refusal, by });
  }

  /** Fails before anything was sent: the request may go to another upstream. */
  #failUnsent(refusal: Refusal): void {
    const offer = this.#offer;
    const fail = () => this.#settle({ kind: "refused", refusal, by: this.#isClientGone ? "client" : null });
    offer?.failed();
    if (offer?.mayBeMade !== true || this.#isClientGone) {
      fail();
      return;
    }
    this.#deadline.stop();
    this.#sent.destroy();
    this.#offerClient(offer, `error=${refusal.code}`, fail);
  }

  // 10. The end.

  #cut(by: CutBy): void {
    this.#settle({ kind: "cut", by, errorType: null });
  }

  /**
   * The one way out: it writes the record, and then lets the client see the end. The first call counts. What is held is held no longer:
   * a response ends here, and in place of a refused one the client gets our own, unless it has a head already.
   */
  #settle(ending: Ending): void {
    const hasHead = this.#download !== null && this.#exchange.received.res.headersSent;
    const isRefused = ending.kind === "refused" && !hasHead;
    if (!isRefused) this.#release();
    if (this.#hasEnded) return;
    this.#stop();
    if (isRefused) {
      this.#refuse(ending);
      return;
    }
    // Whatever happens in the grace period, the client disconnected first.
    const by = this.#isClientGone ? "client" : (ending.by ?? "proxy");
    if (this.#download === null) {
      const errorType = ending.kind === "cut" ? ending.errorType : null;
      this.#exchange.recordCut(errorType, by, () => this.#close(false));
      return;
    }
    const record = (ended: EndedResponse) =>
      this.#exchange.recordResponse(ended, by, () => this.#close(ended.isWhole));
    const ended = this.#download.finish(ending.kind === "whole", this.#isClientGone);
    if (ended instanceof Promise) void ended.then(record);
    else record(ended);
  }

  #refuse({ refusal, by }: Extract<Ending, { kind: "refused" }>): void {
    this.#sent.destroy();
    const attempts = this.#offer?.describe(`error=${refusal.code}`) ?? null;
    this.#services.refuser.refuseAttempt(this.#exchange, refusal, by, attempts, this.#hasClient);
  }

  #stop(): void {
    this.#hasEnded = true;
    this.#held = null;
    this.#exchange.received.req.socket.off("close", this.#onClientClose);
    this.#upload.stop();
    this.#deadline.stop();
    this.#offer?.close();
    if (this.#graceTimer !== null) clearTimeout(this.#graceTimer);
  }

  /**
   * The last step. A truncated response is destroyed, so that the client cannot take it for complete. If none had begun, the client's
   * connection is reset: tools retry that as they would without us (docs/wire.md section 4). So it is if the body would end with it.
   */
  #close(isWhole: boolean): void {
    const { req, res } = this.#exchange.received;
    if (this.#isReplaced) {
      // With half a request on it, the connection is of no more use.
      if (!isWhole || !this.#sent.writableFinished) this.#sent.destroy();
    } else if (isWhole) {
      this.#download?.end();
      this.#upload.discardRest();
    } else {
      this.#sent.destroy();
      if (this.#download === null || !res.useChunkedEncodingByDefault) resetConnection(req.socket);
      else res.destroy();
    }
  }
}

function ignore(): void {}

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
import { redactReading } from "../../core/usage/redact-reading.ts";
import type { MeterReading } from "../../core/usage/reading.ts";
import { resetConnection } from "../client/reset-connection.ts";
import type { Refuser } from "../refusals/refuser.ts";
import { Deadline, getConnectLimitMs, type Phase } from "../upstream/deadline.ts";
import type { IncomingResponse } from "../upstream/incoming-response.ts";
import type { PlainServer } from "../upstream/plain-server.ts";
import type { PooledUpstream } from "../upstream/pools.ts";
import type { UpstreamRequest } from "../upstream/upstream-request.ts";
import type { Attempts } from "./attempts.ts";
import type { Exchange } from "./exchange.ts";
import type { SharedBuffer } from "./shared-buffer.ts";
import { Upload, type OutgoingBody } from "./upload.ts";
import { Download } from "./download.ts";

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
  | { kind: "whole" }
  /** What has arrived of a response is all that the client gets. `errorType` is for the record of one that had not begun. */
  | { kind: "cut"; by: CutBy; errorType: string | null }
  /** Before the client has a head: with a response of our own. `by` names the side that ended it; null for a request that was rejected. */
  | { kind: "refused"; refusal: Refusal; by: CutBy | null };

const WHOLE: Ending = { kind: "whole" };

/**
 * One request to an upstream and its response: byte for byte, unbuffered, with back-pressure both ways, metered from a copy.
 * It ends once, in one of three ways ({@link Ending}), and leaves one record before the client can see the last byte.
 */
export class RoundTrip {
  readonly #exchange: Exchange;
  readonly #outgoing: Outgoing;
  readonly #services: RoundTripServices;
  readonly #pooled: PooledUpstream;
  readonly #sent: UpstreamRequest;
  readonly #deadline: Deadline;
  readonly #upload: Upload;
  #download: Download | null = null;
  #isClientGone = false;
  /**
   * Set while something has to be known first, and then goes on: takes the response, or fails. What becomes of the connection is
   * ignored meanwhile.
   */
  #goOn: (() => void) | null = null;
  /** True once another attempt has taken over the client. */
  #isReplaced = false;
  /**
   * Resolves with what became of the request, as in the header of attempts, if the upstream has done nothing with it; with null if it
   * went on to its end. After the former, call {@link RoundTrip.goOn} or {@link RoundTrip.leaveClient}. null without attempts.
   */
  readonly nothingDone: Promise<string | null> | null = null;
  #tellNothingDone: ((result: string | null) => void) | null = null;
  #graceTimer: NodeJS.Timeout | null = null;
  #hasEnded = false;

  /** Sends the request. */
  constructor(exchange: Exchange, outgoing: Outgoing, services: RoundTripServices, pooled: PooledUpstream) {
    const { choice, limits } = exchange;
    this.#exchange = exchange;
    this.#outgoing = outgoing;
    this.#services = services;
    this.#pooled = pooled;
    if (outgoing.attempts !== null)
      this.nothingDone = new Promise((resolve) => (this.#tellNothingDone = resolve));
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
      onFailed: (refusal, by) => this.#end({ kind: "refused", refusal, by }),
    });
    exchange.begin(this);
  }

  /** Returns what was learned of the response so far, as if it ended now; null before there is one. */
  readSoFar(): { reading: MeterReading; bytesOut: number } | null {
    return this.#download === null ? null : this.#toRecord(this.#download, this.#download.readSoFar());
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

  // The response: it is taken, unless something has to be known before.

  /** The response head has arrived. */
  #onResponse(incoming: IncomingResponse): void {
    if (this.#hasEnded) return;
    const { status, headers } = incoming.head;
    this.#deadline.onResponse();
    this.#services.limits.sawResponse(this.#exchange.findPayer(headers), status, headers);
    const { plain } = this.#pooled;
    if (plain?.isProven === false && plain.isDoubtful(status, headers.get("content-type"))) {
      void this.#askForTls(plain, () =>
        this.#acceptResponse(incoming, () => this.#takeLateResponse(incoming)),
      );
      return;
    }
    this.#acceptResponse(incoming, () => this.#takeResponse(incoming));
  }

  #acceptResponse(incoming: IncomingResponse, take: () => void): void {
    const { status, headers } = incoming.head;
    const { attempts } = this.#outgoing;
    const { choice } = this.#exchange;
    const rejection = choice.account === "key" ? readRejection(status, headers) : null;
    if (rejection !== null && choice.account === "key")
      this.#services.keyring.recheck(choice.key, rejection.serviceTime);
    attempts?.answered(choice, status);
    if (attempts?.mayFollow(status) !== true || this.#isClientGone) take();
    else this.#offer(`status=${status}`, () => this.#takeLateResponse(incoming));
  }

  /** Writes the head to the client, and streams the body behind it. */
  #takeResponse(incoming: IncomingResponse): void {
    const { secret, attempts } = this.#outgoing;
    const { received, choice } = this.#exchange;
    const hasClient = !this.#isClientGone && !this.#isReplaced;
    if (!this.#isReplaced) attempts?.body.drop();
    this.#download = new Download(incoming, {
      exchange: this.#exchange,
      secret,
      deadline: this.#deadline,
      buffer: this.#services.buffer,
      res: hasClient ? received.res : null,
      attempts: attempts?.describe(choice, `status=${incoming.head.status}`) ?? null,
      onEnd: () => this.#end(WHOLE),
    });
  }

  /** Takes a response that has been waiting. If it has ended or broken off meanwhile, no event follows. */
  #takeLateResponse(incoming: IncomingResponse): void {
    this.#takeResponse(incoming);
    this.#download?.read();
    if (incoming.isBroken) this.#cut("upstream");
  }

  // Where the upstream has done nothing, the client is offered to another attempt.

  /** True while the client is on offer. It ends when the client leaves, its body is refused, or the daemon stops. */
  get isOnOffer(): boolean {
    return this.#goOn !== null;
  }

  /** No other attempt follows: ends with what there is. */
  goOn(): void {
    this.#upload.stop();
    this.#proceed();
  }

  /** Another attempt follows, which takes over the client. */
  leaveClient(): void {
    this.#upload.stop();
    this.#isReplaced = true;
    this.#exchange.releaseHold();
    this.#exchange.received.req.socket.off("close", this.#onClientClose);
    this.#proceed();
    this.#endWithin(this.#exchange.limits.graceMs, "upstream");
  }

  #offer(result: string, goOn: () => void): void {
    this.#goOn = goOn;
    this.#upload.divert();
    this.#tellNothingDone?.(result);
  }

  #proceed(): void {
    const goOn = this.#goOn;
    this.#goOn = null;
    goOn?.();
  }

  /** Asks a server whose response one that expects TLS could send, and goes on if it does not. */
  async #askForTls(plain: PlainServer, goOn: () => void): Promise<void> {
    this.#goOn = goOn;
    const wantsTls = await plain.speaksTls();
    // The client has left, its body was refused, or the daemon is stopping.
    if (this.#goOn === null) return;
    if (wantsTls) {
      this.#goOn = null;
      this.#failUnsent(plainToTls(this.#exchange.choice.upstream));
    } else this.#proceed();
  }

  // What goes wrong.

  /** When a client disconnects after its whole request, the upstream gets a grace period to report the usage. */
  readonly #onClientClose = (): void => {
    if (this.#hasEnded) return;
    this.#isClientGone = true;
    this.#proceed();
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
    if (this.#hasEnded || this.#goOn !== null) return;
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
    this.#outgoing.attempts?.failed(choice);
    this.#end({ kind: "cut", by: "upstream", errorType: "upstream_broke" });
  }

  /** Fails because of the upstream, after it may have seen the request. */
  #failSent(refusal: Refusal, by: CutBy): void {
    this.#outgoing.attempts?.failed(this.#exchange.choice);
    this.#end({ kind: "refused", refusal, by });
  }

  /** Fails before anything was sent: the request may go to another upstream. */
  #failUnsent(refusal: Refusal): void {
    const { attempts } = this.#outgoing;
    const fail = () => this.#end({ kind: "refused", refusal, by: this.#isClientGone ? "client" : null });
    attempts?.failed(this.#exchange.choice);
    if (attempts?.hasNext !== true || this.#isClientGone) {
      fail();
      return;
    }
    this.#deadline.stop();
    this.#sent.destroy();
    this.#offer(`error=${refusal.code}`, fail);
  }

  // The end.

  #cut(by: CutBy): void {
    this.#end({ kind: "cut", by, errorType: null });
  }

  /** Ends it: writes the record, and then lets the client see the end. The first call counts. */
  #end(ending: Ending): void {
    if (ending.kind === "refused") {
      if (this.#download === null || !this.#exchange.received.res.headersSent) this.#refuse(ending);
      else this.#cut(ending.by ?? "proxy");
      return;
    }
    // What waits for something else waits no longer: if that was a response, this is its end.
    this.#proceed();
    if (this.#hasEnded) return;
    this.#stop();
    const isWhole = ending.kind === "whole";
    const endedBy = isWhole ? "upstream" : ending.by;
    // Whatever happens in the grace period, the client disconnected first.
    const by = this.#isClientGone ? "client" : endedBy;
    const download = this.#download;
    if (download === null) {
      this.#exchange.recordCut(isWhole ? null : ending.errorType, by, () => this.#close(false));
      return;
    }
    download.settle(isWhole, this.#isClientGone, (reading, isReallyWhole) => {
      this.#exchange.recordResponse(this.#toRecord(download, reading), by, () => this.#close(isReallyWhole));
    });
  }

  #refuse({ refusal, by }: Extract<Ending, { kind: "refused" }>): void {
    if (this.#hasEnded) return;
    this.#goOn = null;
    this.#stop();
    this.#sent.destroy();
    const { attempts } = this.#outgoing;
    const hasClient = !this.#isClientGone && !this.#isReplaced;
    const described = attempts?.describe(this.#exchange.choice, `error=${refusal.code}`) ?? null;
    this.#services.refuser.refuseAttempt(this.#exchange, refusal, by, described, hasClient);
  }

  #stop(): void {
    this.#hasEnded = true;
    this.#exchange.received.req.socket.off("close", this.#onClientClose);
    this.#upload.stop();
    this.#deadline.stop();
    if (!this.#isReplaced) this.#outgoing.attempts?.body.drop();
    if (this.#graceTimer !== null) clearTimeout(this.#graceTimer);
    this.#tellNothingDone?.(null);
  }

  /** The ledger must not get a key that an upstream echoes, for instance in a model's name. */
  #toRecord(download: Download, reading: MeterReading): { reading: MeterReading; bytesOut: number } {
    return { reading: redactReading(reading, this.#outgoing.secret), bytesOut: download.bytes };
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

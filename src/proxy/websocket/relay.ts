import type { Socket } from "node:net";
import type { Choice } from "../../core/decide/choose-upstream.ts";
import type { Decision } from "../../core/decide/decide.ts";
import type { CutBy } from "../../core/ledger/record.ts";
import { tooManyMessages } from "../../core/refusals/limits.ts";
import { renderRefusalEvent, type Refusal } from "../../core/refusals/refusal.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { MessageFacts } from "../../core/websocket/client-message.ts";
import { writeClose, writeText, type CloseCode } from "../../core/websocket/write-frame.ts";
import { resetConnection } from "../client/reset-connection.ts";
import { readArrival, type ClientRequest, type Exchange } from "../exchange/exchange.ts";
import { SendQueue } from "../exchange/send-queue.ts";
import type { SharedBuffer } from "../exchange/shared-buffer.ts";
import { DRAIN_LIMIT_MS } from "../refusals/send.ts";
import type { Sender } from "../sender.ts";
import { ClientMessages, type ClientMessage } from "./client-messages.ts";
import { Downstream } from "./downstream.ts";
import { Judge, type Handshake, type JudgeParts, type Verdict } from "./judge.ts";
import { Turns } from "./turns.ts";
import type { UpstreamSocket } from "./upstream-handshake.ts";

/** Responses that one WebSocket may have asked for and not got: four times what OpenAI runs at once (docs/websocket.md). */
const MOST_TURNS = 64;

/** Messages that may wait for their judgement. The client is not read meanwhile, but what has arrived may hold many. */
const MOST_WAITING = 64;

/** OpenAI closes a WebSocket after an hour. */
const MOST_LIFE_MS = 60 * 60_000;

/** Without a response under way. A client that is needed again opens another one. */
const MOST_IDLE_MS = 30 * 60_000;

const CHANGED = "the upstream or its key has changed";

/** Of so many lanes the latest message is remembered: twice as many as OpenAI has on a WebSocket. */
const MOST_LANES = 64;

/** What all relays share. */
export interface RelayParts extends JudgeParts {
  sender: Sender;
  buffer: SharedBuffer;
}

/** A WebSocket as it begins. */
interface OpenSocket {
  handshake: Handshake;
  client: Socket;
  upstream: UpstreamSocket;
  choice: Choice;
  secret: Secret;
  /** The upstream's id of the handshake. */
  requestId: string | null;
}

/**
 * An open WebSocket between a client and an upstream: bytes pass as they are, both ways, with back-pressure. Each message of the client is
 * judged before it goes, and each response of the upstream leaves a record.
 */
export class Relay {
  readonly #open: OpenSocket;
  readonly #parts: RelayParts;
  readonly #judge: Judge;
  readonly #turns: Turns;
  readonly #messages: ClientMessages;
  readonly #downstream: Downstream;
  readonly #upstreamQueue: SendQueue;
  readonly #openedAt: number;
  /** When a message or an event last passed, by the monotonic clock. */
  #activeAt: number;
  /** Messages that wait for their judgement, and the Close behind them. */
  #queue: (ClientMessage | Buffer)[] = [];
  #isJudging = false;
  /** By lane: the latest message that went, for a response that no message asks for. */
  readonly #latest = new Map<string, { received: ClientRequest; decision: Decision }>();
  /** Why it closes once no response is under way; null while it does not. */
  #retired: { code: CloseCode; reason: string } | null = null;
  #isClientGone = false;
  #isOver = false;
  #graceTimer: NodeJS.Timeout | null = null;

  constructor(open: OpenSocket, parts: RelayParts) {
    const { client, upstream, secret, requestId } = open;
    this.#open = open;
    this.#parts = parts;
    this.#judge = new Judge(open.handshake, open.choice, secret, parts);
    this.#turns = new Turns({
      secret,
      requestId,
      openSuccessor: (lane) => this.#openSuccessor(lane),
      onStart: (id, model) => this.#judge.remember(id, model),
      abort: () => this.abort(),
    });
    this.#messages = new ClientMessages(parts.buffer, {
      onMessage: (message) => this.#enqueue(message),
      onControl: (raw) => this.#upstreamQueue.write(raw),
      onClose: (raw) => this.#enqueue(raw),
      onTooLong: () => this.#close(1009, "a message is longer than tollkeeper takes", "proxy"),
      onFull: () => this.#close(1013, "too much waits in tollkeeper", "proxy"),
      onInvalid: (fault) => this.#close(1002, fault, "client"),
    });
    this.#downstream = new Downstream(client, parts.buffer, {
      onEvent: (event, bytes) => {
        this.#activeAt = parts.books.clock.monotonic();
        const turn = this.#turns.onEvent(event, bytes);
        return turn === null ? null : (done) => this.#turns.end(turn, () => this.#afterTurn(done));
      },
      onProgress: () => this.#readUpstream(),
    });
    this.#upstreamQueue = new SendQueue(upstream.request, parts.buffer, () => this.#throttle());
    this.#openedAt = this.#activeAt = parts.books.clock.monotonic();
    this.#listen();
  }

  /** True while a response is under way. */
  get isBusy(): boolean {
    return this.#turns.size > 0;
  }

  /** Closes it once no response is under way: the daemon stops, or the client has to open another one. */
  retire(code: CloseCode, reason: string): void {
    this.#retired ??= { code, reason };
    this.#closeIfRetired();
  }

  /** Closes it, as {@link retire}, if messages of its client would now go elsewhere. */
  review(): void {
    if (!this.#judge.isStillPinned()) this.retire(1012, CHANGED);
  }

  /** Ends it now from our side. Each response under way leaves its record. */
  abort(): void {
    this.#end("proxy", () => this.#open.client.destroy());
  }

  /** Looks at the time: called from time to time. */
  onTick(now: number): void {
    const { betweenBytesMs, firstByteMs } = this.#parts.settings().limits;
    if (this.isBusy) {
      const limitMs = this.#turns.hasEvents ? betweenBytesMs : firstByteMs;
      // While the client does not read, the silence is not the upstream's.
      if (this.#downstream.hasRoom && now - this.#activeAt > limitMs) this.abort();
    } else if (now - this.#activeAt > MOST_IDLE_MS) this.retire(1012, "the WebSocket was idle for too long");
    if (now - this.#openedAt > MOST_LIFE_MS) this.retire(1012, "the WebSocket is an hour old");
  }

  #listen(): void {
    const { client, upstream } = this.#open;
    upstream.onFailed = () => this.#onUpstreamGone();
    upstream.incoming.onReadable = () => this.#readUpstream();
    // 'close' follows.
    client.on("error", ignore);
    client.on("close", () => this.#onClientGone());
    client.on("end", () => this.#onClientGone());
    client.on("data", (chunk: Buffer) => {
      if (this.#isClientGone || this.#isOver) return;
      this.#messages.feed(chunk);
      this.#throttle();
    });
    client.resume();
    this.#readUpstream();
  }

  // From the client to the upstream.

  #enqueue(item: ClientMessage | Buffer): void {
    this.#activeAt = this.#parts.books.clock.monotonic();
    this.#queue.push(item);
    this.#pump();
  }

  /** Judges what waits, in its order, and sends what may go. */
  #pump(): void {
    while (!this.#isJudging && !this.#isOver && this.#retired === null) {
      const item = this.#queue[0];
      if (item === undefined) return;
      if (Buffer.isBuffer(item)) {
        this.#queue.shift();
        this.#upstreamQueue.write(item);
        continue;
      }
      this.#isJudging = true;
      let isLater = false;
      this.#judge.judge(item, (verdict) => {
        this.#isJudging = false;
        if (this.#isOver || this.#retired !== null) return;
        this.#queue.shift();
        this.#messages.release(item);
        this.#apply(item, verdict);
        if (isLater) {
          this.#pump();
          this.#throttle();
        }
      });
      isLater = true;
    }
  }

  #apply(message: ClientMessage, verdict: Verdict): void {
    // Nothing can be inserted, and no response could be told.
    if (this.#downstream.isUnreadable) this.abort();
    else if (verdict.kind === "reconnect") this.retire(1012, CHANGED);
    else if (verdict.kind === "refuse") {
      const { received, chosen, refusal, facts } = verdict;
      this.#refuse(
        received,
        facts,
        refusal,
        chosen === null ? null : this.#parts.sender.openRefused(received, chosen),
      );
    } else this.#send(message, verdict);
  }

  #send(message: ClientMessage, { facts, received, decision }: Extract<Verdict, { kind: "go" }>): void {
    if (facts.isCreate) {
      if (this.#turns.size >= MOST_TURNS) {
        this.#refuse(
          received,
          facts,
          tooManyMessages(MOST_TURNS),
          this.#parts.sender.openRefused(received, decision),
        );
        return;
      }
      const { exchange, refusal } = this.#parts.sender.open(received, decision);
      if (refusal !== null) {
        this.#refuse(received, facts, refusal, exchange);
        return;
      }
      for (const bytes of message.payload) exchange.sawRequestBytes(bytes);
      this.#turns.begin(exchange, facts.lane, decision.model);
      exchange.noteReservation();
    }
    this.#remember(facts.lane, { received, decision });
    this.#upstreamQueue.write(Buffer.concat(message.raw));
  }

  #remember(lane: string, latest: { received: ClientRequest; decision: Decision }): void {
    // The latest is the last.
    this.#latest.delete(lane);
    this.#latest.set(lane, latest);
    for (const oldest of this.#latest.keys()) {
      if (this.#latest.size <= MOST_LANES) return;
      this.#latest.delete(oldest);
    }
  }

  #refuse(received: ClientRequest, facts: MessageFacts, refusal: Refusal, exchange: Exchange | null): void {
    const { status, text } = renderRefusalEvent(refusal, facts.lane, this.#parts.refuser.configOption);
    const { req, client } = received;
    this.#parts.refuser.refuseMessage(req, { refusal, status }, client.tool, exchange, () => {
      if (this.#isOver) return;
      if (this.#downstream.maySend) this.#downstream.send(writeText(text));
      else this.abort();
    });
  }

  /** The client is read while the upstream keeps up, and not too many messages wait. */
  #throttle(): void {
    const { client } = this.#open;
    if (this.#isClientGone || this.#isOver) return;
    if (this.#upstreamQueue.hasRoom && this.#queue.length < MOST_WAITING) client.resume();
    else client.pause();
  }

  // From the upstream to the client.

  #readUpstream(): void {
    if (this.#isOver) return;
    const { incoming } = this.#open.upstream;
    if (this.#downstream.hasRoom) {
      const bytes = incoming.read();
      if (bytes !== null) this.#downstream.take(bytes);
    }
    if (incoming.isComplete && incoming.unreadBytes === 0) this.#onUpstreamGone();
  }

  /** A response that no message has asked for belongs to the latest message of its lane, or of any. */
  #openSuccessor(lane: string): { exchange: Exchange; model: string | null } | null {
    const latest = this.#latest.get(lane) ?? [...this.#latest.values()].at(-1);
    if (latest === undefined) return null;
    const arrival = readArrival(this.#parts.books.clock);
    const { received, decision } = latest;
    const { exchange } = this.#parts.sender.open({ ...received, arrival }, decision);
    return { exchange, model: decision.model };
  }

  #afterTurn(done: () => void): void {
    done();
    if (this.isBusy) return;
    if (this.#isClientGone) this.#end("client", ignore);
    else this.#closeIfRetired();
  }

  // The end.

  /** The upstream has time to end the responses under way, so that their usage is known. */
  #onClientGone(): void {
    if (this.#isClientGone || this.#isOver) return;
    this.#isClientGone = true;
    this.#downstream.onClientGone();
    this.#messages.close();
    const { graceMs } = this.#parts.settings().limits;
    this.#open.client.destroy();
    if (!this.isBusy || graceMs === 0) this.#end("client", ignore);
    else {
      this.#graceTimer = setTimeout(() => this.#end("client", ignore), graceMs);
      this.#readUpstream();
    }
  }

  #onUpstreamGone(): void {
    if (this.#isOver) return;
    const { incoming } = this.#open.upstream;
    const bytes = incoming.read();
    if (bytes !== null) this.#downstream.take(bytes);
    const { client } = this.#open;
    const isClean = incoming.isComplete;
    this.#end(this.#isClientGone ? "client" : "upstream", () => {
      if (!isClean) resetConnection(client);
      else this.#endClient();
    });
  }

  #closeIfRetired(): void {
    if (this.#retired === null || this.isBusy || this.#isOver) return;
    const { code, reason } = this.#retired;
    this.#close(code, reason, "proxy");
  }

  /** Closes it from our side. */
  #close(code: CloseCode, reason: string, by: CutBy): void {
    this.#end(by, () => {
      if (this.#downstream.isBetweenMessages) {
        this.#downstream.send(writeClose(code, reason));
        this.#endClient();
      } else this.#open.client.destroy();
    });
  }

  /** Sends what waits for the client, and ends its connection. It may still be sending, and must get to read that. */
  #endClient(): void {
    const { client } = this.#open;
    this.#downstream.flush();
    client.resume();
    client.end(() => {
      const timer = setTimeout(() => client.destroy(), DRAIN_LIMIT_MS);
      client.once("close", () => clearTimeout(timer));
    });
  }

  /** Ends it: records what is under way, and then lets the client see the end. The first call counts. */
  #end(by: CutBy, endClient: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#graceTimer !== null) clearTimeout(this.#graceTimer);
    this.#messages.close();
    for (const item of this.#queue.splice(0)) if (!Buffer.isBuffer(item)) this.#messages.release(item);
    this.#upstreamQueue.close();
    this.#open.upstream.request.destroy();
    this.#turns.cut(by, endClient);
  }
}

function ignore(): void {}

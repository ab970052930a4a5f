import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { Choice } from "../../core/decide/choose-upstream.ts";
import type { CutBy } from "../../core/ledger/record.ts";
import { tooManyMessages } from "../../core/refusals/limits.ts";
import { unplaceableModel } from "../../core/refusals/models.ts";
import type { Refusal } from "../../core/refusals/refusal.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { LIMITS_EVENT } from "../../core/usage/socket-events.ts";
import type { Limits } from "../../ports.ts";
import type { MessageFacts } from "../../core/websocket/client-message.ts";
import { OPCODE } from "../../core/websocket/frame-reader.ts";
import { replaceSetupModel, type SetupModel } from "../../core/websocket/live-message.ts";
import { writeClose, writeMaskedFrame, writeText, type CloseCode } from "../../core/websocket/write-frame.ts";
import { resetConnection } from "../client/reset-connection.ts";
import { readArrival, type ClientRequest, type Exchange } from "../exchange/exchange.ts";
import { SendQueue } from "../exchange/send-queue.ts";
import type { SharedBuffer } from "../exchange/shared-buffer.ts";
import { DRAIN_LIMIT_MS } from "../refusals/discard-body.ts";
import type { Sender } from "../sender.ts";
import type { ClientMessage } from "./client-messages.ts";
import { Lifetime } from "./lifetime.ts";
import { Downstream } from "./downstream.ts";
import { Inbox } from "./inbox.ts";
import { Judge, type Handshake, type JudgeParts, type Verdict } from "./judge.ts";
import type { SentMessage, SocketProtocol, TurnBook } from "./protocol.ts";
import { speak } from "./speak.ts";
import type { UpstreamSocket } from "./upstream-handshake.ts";

/** Responses that one WebSocket may have asked for and not got: four times what OpenAI runs at once (docs/websocket.md). */
const MOST_TURNS = 64;

/** The codes that say that the client has sent what it may not. */
const CLIENTS_FAULTS: ReadonlySet<CloseCode> = new Set([1002, 1007]);

const CHANGED = "the upstream or its key has changed";

const NOT_ADMITTED = "the configuration no longer admits this connection";

/** What all relays share. */
export interface RelayParts extends JudgeParts {
  /** True while the configuration admits the user and the host name of a handshake. */
  admits(handshake: Handshake): boolean;
  sender: Sender;
  buffer: SharedBuffer;
  limits: Limits;
}

/** A WebSocket as it begins. */
export interface OpenSocket {
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
  readonly #protocol: SocketProtocol;
  readonly #judge: Judge;
  readonly #turns: TurnBook;
  readonly #inbox: Inbox;
  readonly #toUpstream: SendQueue;
  readonly #toClient: Downstream;
  readonly #lifetime: Lifetime;
  /** Why it closes once no response is under way; null while it does not. */
  #retired: { code: CloseCode; reason: string } | null = null;
  /** Runs while the upstream may still end the responses of a client that has left; null while the client is there. */
  #grace: NodeJS.Timeout | null = null;
  /** True once a compressed message was kept back: later ones may refer to it, and the upstream does not have it. */
  #lacksContext = false;
  #isOver = false;

  constructor(open: OpenSocket, parts: RelayParts) {
    const { client, upstream, secret, requestId } = open;
    this.#open = open;
    this.#parts = parts;
    this.#protocol = speak(open.choice.route, {
      secret,
      requestId,
      openSuccessor: (sent, isJudged, needsPlace) => this.#openSuccessor(sent, isJudged, needsPlace),
      abort: () => this.abort(),
    });
    this.#turns = this.#protocol.turns;
    this.#judge = new Judge(open.handshake, open, this.#protocol.messages, parts);
    this.#inbox = new Inbox(this.#judge, parts.buffer, upstream.compression, {
      onArrival: () => this.#lifetime.touch(),
      onJudged: (message, verdict) => this.#apply(message, verdict),
      onPassed: (raw) => this.#toUpstream.write(raw),
      onRoom: () => this.#throttle(),
      onFault: (code, reason) => this.#close(code, reason, CLIENTS_FAULTS.has(code) ? "client" : "proxy"),
    });
    this.#toUpstream = new SendQueue(upstream.request, parts.buffer, () => this.#throttle());
    const { events } = this.#protocol;
    this.#toClient = new Downstream(client, parts.buffer, upstream.compression, events, {
      isCopied: () => parts.books.captures.isOn || this.#turns.isTapped,
      onEvent: (event, bytes, copy) => {
        this.#lifetime.touch();
        if (event.type === LIMITS_EVENT) parts.limits.sawEvent(open.choice, event.fields);
        const record = this.#turns.onEvent(event, bytes, copy);
        if (record !== null) return (done) => record(() => this.#afterTurn(done));
        return event.steeredId === null ? null : (done) => this.#afterTurn(done);
      },
      onProgress: () => this.#readUpstream(),
    });
    this.#lifetime = new Lifetime(parts.books.clock);
    this.#listen();
  }

  /** True while a response is under way. */
  get isBusy(): boolean {
    return this.#turns.isBusy;
  }

  /** Closes it once no response is under way: the daemon stops, or the client has to open another one. */
  retire(code: CloseCode, reason: string): void {
    this.#retired ??= { code, reason };
    this.#inbox.stop();
    this.#closeIfRetired();
  }

  /** Closes it, as {@link retire}, if the client is no longer admitted, or its messages would now go elsewhere. */
  review(): void {
    if (!this.#parts.admits(this.#open.handshake)) this.retire(1012, NOT_ADMITTED);
    else if (!this.#judge.isStillPinned()) this.retire(1012, CHANGED);
  }

  /** Ends it now from our side. Each response under way leaves its record. */
  abort(): void {
    this.#end("proxy", () => this.#open.client.destroy());
  }

  /** Looks at the time: called from time to time. */
  onTick(now: number): void {
    // What a steer causes follows the response that it ends.
    if (!this.isBusy) this.#turns.expectNone();
    const overdue = this.#lifetime.check(now, {
      limits: this.#parts.settings().limits,
      isBusy: this.isBusy && !this.#turns.awaitsClient,
      hasEvents: this.#turns.hasEvents,
      isRead: this.#toClient.hasRoom,
    });
    if (overdue === "silent") this.abort();
    else if (overdue !== null) this.retire(1012, overdue);
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
      this.#inbox.feed(chunk);
      this.#throttle();
    });
    client.resume();
    this.#readUpstream();
  }

  // From the client to the upstream.

  #apply(message: ClientMessage, verdict: Verdict): void {
    // Nothing can be inserted, and no response could be told.
    if (this.#toClient.isUnreadable) this.abort();
    else if (verdict.kind === "reconnect") this.retire(1012, CHANGED);
    else if (verdict.kind === "pass") {
      this.#turns.join(verdict.facts, message.payload);
      this.#toUpstream.write(this.#encode(message));
    } else if (verdict.kind === "refuse") {
      const { received, chosen, refusal, facts } = verdict;
      this.#refuse(
        message,
        received,
        facts,
        refusal,
        chosen === null ? null : this.#parts.sender.openRefused(received, chosen),
      );
    } else this.#send(message, verdict);
  }

  #send(message: ClientMessage, { facts, received, decision }: Extract<Verdict, { kind: "go" }>): void {
    const { sender } = this.#parts;
    if (
      facts.setup !== null &&
      decision.alias !== null &&
      !replaceModel(message, facts.setup, decision.alias)
    ) {
      const unplaceable = unplaceableModel(decision.alias);
      this.#refuse(message, received, facts, unplaceable, sender.openRefused(received, decision));
      return;
    }
    const hold = facts.mayBegin ? sender.hold(received, decision, decision.choice, facts.needsPlace) : null;
    if ((facts.isCreate || hold !== null) && this.#turns.sizeWithExpected >= MOST_TURNS) {
      hold?.release(null);
      this.#refuse(
        message,
        received,
        facts,
        tooManyMessages(MOST_TURNS),
        sender.openRefused(received, decision),
      );
      return;
    }
    if (hold !== null) this.#turns.expect(hold);
    if (facts.isCreate) {
      const { exchange, refusal } = sender.open(received, decision);
      if (refusal !== null) {
        this.#refuse(message, received, facts, refusal, exchange);
        return;
      }
      for (const bytes of message.payload) exchange.sawRequestBytes(bytes);
      this.#turns.begin(exchange, facts, decision.model);
      exchange.noteReservation();
    }
    this.#turns.remember(facts, { received, decision });
    this.#toUpstream.write(this.#encode(message));
  }

  /** As it came, unless the upstream could no longer read it so: then without compression, in one frame. */
  #encode({ raw, payload, isText, isCompressed, isReplaced }: ClientMessage): Buffer {
    if (!isReplaced && (!isCompressed || !this.#lacksContext)) return Buffer.concat(raw);
    this.#lacksContext ||= isCompressed;
    return writeMaskedFrame(isText ? OPCODE.text : OPCODE.binary, Buffer.concat(payload), randomBytes(4));
  }

  #refuse(
    message: ClientMessage,
    received: ClientRequest,
    facts: MessageFacts,
    refusal: Refusal,
    exchange: Exchange | null,
  ): void {
    this.#lacksContext ||= message.isCompressed;
    const { configOption } = this.#parts.refuser;
    const { form, ...told } = this.#protocol.renderRefusal(refusal, facts.lane, configOption);
    // At once: the record may be written later, and what came with the refused message is not judged.
    if (form.kind === "close") this.#inbox.stop();
    const { req, client } = received;
    this.#parts.refuser.refuseMessage(req, { refusal, ...told }, client.tool, exchange, () => {
      if (this.#isOver) return;
      if (form.kind === "close") this.#dismiss(form.code, form.reason);
      else if (this.#toClient.maySend) this.#toClient.send(writeText(form.text));
      else this.abort();
    });
  }

  /** Ends it because of a refusal: after the turn that is under way, unless that waits for the client. */
  #dismiss(code: CloseCode, reason: string): void {
    if (this.#turns.awaitsClient) this.#close(code, reason, "proxy");
    else this.retire(code, reason);
  }

  /** Opens the exchange of a response that no message has asked for. If nothing more may be spent, it is the last. */
  #openSuccessor({ received, decision }: SentMessage, isJudged: boolean, needsPlace: boolean): Exchange {
    const { books, sender, refuser } = this.#parts;
    const refusal = isJudged ? null : this.#judge.judgeSuccessor(decision, needsPlace);
    if (refusal !== null) {
      const { form } = this.#protocol.renderRefusal(refusal, "", refuser.configOption);
      if (form.kind === "close") this.#retired ??= form;
      this.#inbox.stop();
    }
    const arrival = readArrival(books.clock);
    return sender.open({ ...received, arrival }, decision).exchange;
  }

  /** The client is read while the upstream keeps up, and not too many messages wait. */
  #throttle(): void {
    const { client } = this.#open;
    if (this.#grace !== null || this.#isOver) return;
    if (this.#toUpstream.hasRoom && this.#inbox.hasRoom) client.resume();
    else client.pause();
  }

  // From the upstream to the client.

  #readUpstream(): void {
    if (this.#isOver) return;
    const { incoming } = this.#open.upstream;
    if (this.#toClient.hasRoom) {
      const bytes = incoming.read();
      if (bytes !== null) this.#toClient.take(bytes);
    }
    if (incoming.isComplete && incoming.unreadBytes === 0) this.#onUpstreamGone();
  }

  #afterTurn(done: () => void): void {
    done();
    if (this.isBusy) return;
    if (this.#grace !== null) this.#end("client", ignore);
    else this.#closeIfRetired();
  }

  // The end.

  /** The upstream has time to end the responses under way, so that their usage is known. */
  #onClientGone(): void {
    if (this.#grace !== null || this.#isOver) return;
    const hasClosed = this.#toClient.hasClosed;
    this.#toClient.onClientGone();
    this.#inbox.close();
    this.#open.client.destroy();
    const { graceMs } = this.#parts.settings().limits;
    if (!this.isBusy || graceMs === 0 || hasClosed) {
      // A client ends its connection as soon as the upstream has closed the WebSocket.
      this.#end(hasClosed ? "upstream" : "client", ignore);
      return;
    }
    this.#grace = setTimeout(() => this.#end("client", ignore), graceMs);
    this.#readUpstream();
  }

  #onUpstreamGone(): void {
    if (this.#isOver) return;
    const { incoming } = this.#open.upstream;
    const bytes = incoming.read();
    if (bytes !== null) this.#toClient.take(bytes);
    const { client } = this.#open;
    const isClean = incoming.isComplete;
    this.#end(this.#grace !== null ? "client" : "upstream", () => {
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
      if (this.#toClient.isBetweenMessages) {
        this.#toClient.send(writeClose(code, reason));
        this.#endClient();
      } else this.#open.client.destroy();
    });
  }

  /** Sends what waits for the client, and ends its connection. */
  #endClient(): void {
    this.#toClient.flush();
    endSocket(this.#open.client);
  }

  /** Ends it: records what is under way, and then lets the client see the end. The first call counts. */
  #end(by: CutBy, endClient: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#grace !== null) clearTimeout(this.#grace);
    this.#inbox.close();
    this.#toUpstream.close();
    this.#toClient.stopReading();
    this.#open.upstream.request.destroy();
    this.#turns.cut(by, endClient);
  }
}

/** Ends a connection once what was written has been sent. The client may still be sending, and must get to read that. */
export function endSocket(socket: Socket): void {
  socket.resume();
  socket.end(() => {
    const timer = setTimeout(() => socket.destroy(), DRAIN_LIMIT_MS);
    socket.once("close", () => clearTimeout(timer));
  });
}

/** Puts a model into a setup. False where the name cannot stand there. */
function replaceModel(message: ClientMessage, setup: SetupModel, model: string): boolean {
  const payload = replaceSetupModel(Buffer.concat(message.payload), setup, model);
  if (payload === null) return false;
  message.payload = [payload];
  message.isReplaced = true;
  return true;
}

function ignore(): void {}
